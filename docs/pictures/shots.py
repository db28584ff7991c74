#!/usr/bin/env python3
"""Makes the pictures of docs/tutorial.md: python3 docs/pictures/shots.py [UNIT...]

Plants a bug in a copy of each unit's RTL, lets a campaign find it, and shows the failing case in the stepper (tmux), in
the page (Chromium) and in GTKWave (Xvfb). It needs these three and a release build of the command; it writes
docs/pictures/UNIT-{step.svg,page.png,waves.png}.
"""

import json
import os
import re
import shutil
import struct
import subprocess
import sys
import time
import zlib
from html import escape
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
COMMAND = os.environ.get("RECONVERGE", str(ROOT / "target/release/reconverge"))
# The bugs of docs/tutorial.md: file, what stands there, what is planted; and the seed of the campaign that finds it.
BUGS = {
    "r500": ("r500_vote.sv", "agreed & ~|held", "agreed & |held", 1),
    "r700": ("r700_lanes.sv", "brk   = frame_st1_i & frame_st0_i", "brk   = frame_st1_i | frame_st0_i", 33),
    "spa5": ("spa5_threads.sv", " | d_ret_d | exited_q);", " | exited_q);", 7),
}


def plant(unit, folder):
    """Copies the RTL of `unit` into `folder` with its bug, and returns a failing case of it."""
    name, right, wrong, seed = BUGS[unit]
    rtl = folder / "planted"
    shutil.copytree(ROOT / "rtl" / unit, rtl)
    text = (rtl / name).read_text()
    assert text.count(right) == 1, f"{name} has no {right!r} to be changed"
    (rtl / name).write_text(text.replace(right, wrong))
    fuzz = [COMMAND, "fuzz", unit, "--rtl", rtl, "--no-assert", "--no-shrink", "--jobs", "1", "--seed", str(seed), "--out", folder.relative_to(ROOT)]
    done = subprocess.run(fuzz, cwd=ROOT, capture_output=True, text=True)
    assert done.returncode == 1, done.stderr
    name = re.search(r"(?m)^MISMATCH (\S+)", done.stdout)[1]
    return (folder / f"{name}.json").relative_to(ROOT)


def replay(case, *more):
    """The words of a command that replays `case`, whose RTL lies below the current folder."""
    return [COMMAND, "replay", "--no-assert", "--out", str(case.parent), str(case), *more]


# ---- PNG ---------------------------------------------------------------------------------------------


def write_png(path, width, height, rows):
    """Writes `rows`, a list of RGB triples each, with as few bits for a colour as leave 256 of them."""
    for drop in range(8):
        mask = 0xFF << drop & 0xFF
        shown = [[(r & mask, g & mask, b & mask) for r, g, b in row] for row in rows]
        colours = sorted({pixel for row in shown for pixel in row})
        if len(colours) <= 256:
            break
    number = {colour: n for n, colour in enumerate(colours)}
    data = b"".join(b"\0" + bytes(number[pixel] for pixel in row) for row in shown)

    def chunk(kind, body):
        return struct.pack(">I", len(body)) + kind + body + struct.pack(">I", zlib.crc32(kind + body))

    head = struct.pack(">IIBBBBB", width, height, 8, 3, 0, 0, 0)
    palette = b"".join(bytes(colour) for colour in colours)
    path.write_bytes(
        b"\x89PNG\r\n\x1a\n" + chunk(b"IHDR", head) + chunk(b"PLTE", palette)
        + chunk(b"IDAT", zlib.compress(data, 9)) + chunk(b"IEND", b"")
    )


def read_png(data):
    """Width, height and rows of a PNG with eight bits a channel, as Chromium writes it."""
    at, body = 8, b""
    while at < len(data):
        (length,), kind = struct.unpack(">I", data[at : at + 4]), data[at + 4 : at + 8]
        part = data[at + 8 : at + 8 + length]
        if kind == b"IHDR":
            width, height, depth, colour = struct.unpack(">IIBB", part[:10])
        elif kind == b"IDAT":
            body += part
        at += length + 12
    assert depth == 8 and colour in (2, 6), "not RGB"
    size, raw = {2: 3, 6: 4}[colour], zlib.decompress(body)
    before, rows = bytes(width * size), []
    for y in range(height):
        start = y * (width * size + 1)
        kind, line = raw[start], bytearray(raw[start + 1 : start + 1 + width * size])
        for x in range(len(line)):
            left = line[x - size] if x >= size else 0
            up, corner = before[x], before[x - size] if x >= size else 0
            if kind == 4:
                guess = left + up - corner
                far = [abs(guess - n) for n in (left, up, corner)]
                near = (left, up, corner)[far.index(min(far))]
            else:
                near = (0, left, up, (left + up) // 2)[kind]
            line[x] = line[x] + near & 0xFF
        rows.append([tuple(line[x : x + 3]) for x in range(0, len(line), size)])
        before = line
    return width, height, rows


# ---- the three views ---------------------------------------------------------------------------------


def colour_of(number):
    """A colour of the 256 of terminals."""
    if number < 16:
        return "#000000" if number == 0 else "#ff5555"
    number -= 16
    levels = (0, 95, 135, 175, 215, 255)
    return "#" + "".join(f"{levels[number // n % 6]:02x}" for n in (36, 6, 1))


def screen_svg(text, columns):
    """A terminal's screen as SVG: text with the colours that its sequences give it."""
    wide, high = 7.8, 17
    out, lines = [], text.rstrip("\n").split("\n")
    style = {"fg": None, "bg": None, "weight": None, "dim": None}
    for y, line in enumerate(lines):
        x = 0
        for part in re.split(r"(\x1b\[[0-9;]*m)", line):
            codes = re.fullmatch(r"\x1b\[([0-9;]*)m", part)
            if codes:
                numbers = [int(n or 0) for n in codes[1].split(";")]
                while numbers:
                    n = numbers.pop(0)
                    if n == 0:
                        style = dict.fromkeys(style)
                    elif n in (1, 2):
                        style["weight" if n == 1 else "dim"] = True
                    elif n in (38, 48):
                        style["fg" if n == 38 else "bg"] = colour_of(numbers[1])
                        del numbers[:2]
                    elif n in (39, 49):
                        style["fg" if n == 39 else "bg"] = None
                    elif n == 91:
                        style["fg"] = "#ff5555"
                continue
            if style["bg"]:
                box = f'x="{x * wide:.1f}" y="{y * high}" width="{len(part) * wide:.1f}" height="{high}"'
                out.append(f'<rect {box} fill="{style["bg"]}"/>')
            if part.strip():
                fill = style["fg"] or ("#8b949e" if style["dim"] else "#e6edf3")
                bold = ' font-weight="bold"' if style["weight"] else ""
                place = f'x="{x * wide:.1f}" y="{y * high + 13}" textLength="{len(part) * wide:.1f}"'
                out.append(f'<text {place} fill="{fill}"{bold}>{escape(part)}</text>')
            x += len(part)
    width, height = int(columns * wide) + 20, len(lines) * high + 20
    return (
        f'<svg xmlns="http://www.w3.org/2000/svg" width="{width}" height="{height}" viewBox="-10 -10 {width} {height}" '
        f'font-family="ui-monospace,Menlo,Consolas,monospace" font-size="13"><style>text{{white-space:pre}}</style>'
        f'<rect x="-10" y="-10" width="{width}" height="{height}" fill="#0d1117"/>' + "\n".join(out) + "</svg>\n"
    )


def step(case, path):
    """The stepper where the run fails."""
    columns, lines = 118, 32
    server = ["tmux", "-L", f"shots{os.getpid()}", "-f", "/dev/null"]
    words = " ".join(f"'{word}'" for word in replay(case, "--step"))
    subprocess.run([*server, "new-session", "-d", "-x", str(columns), "-y", str(lines), words], cwd=ROOT, check=True)
    try:
        for _ in range(600):
            time.sleep(0.1)
            shown = subprocess.run([*server, "capture-pane", "-e", "-p"], capture_output=True, text=True, check=True)
            if "q leave" in shown.stdout:
                break
        else:
            sys.exit("the stepper shows nothing")
    finally:
        subprocess.run([*server, "kill-server"], check=False)
    path.write_text(screen_svg(shown.stdout, columns))


def page(case, path):
    """The page where the run fails."""
    folder = ROOT / case.parent
    subprocess.run(replay(case, "--html", str(folder / "page.html")), cwd=ROOT, capture_output=True, check=False)
    # The view without the report above it, and the command as it is when it is installed.
    text = (folder / "page.html").read_text().replace("<details open>", "<details>").replace(COMMAND, "reconverge")
    (folder / "page.html").write_text(text)
    shot = folder / "page.png"
    subprocess.run(
        ["chromium", "--headless", "--no-sandbox", "--disable-gpu", "--hide-scrollbars", "--window-size=1180,640",
         f"--user-data-dir={folder / 'profile'}", f"--screenshot={shot}", f"file://{folder / 'page.html'}"],
        capture_output=True, check=True, timeout=120,
    )
    write_png(path, *read_png(shot.read_bytes()))


def waves(case, path):
    """GTKWave with the view of the case, at its marker."""
    folder = ROOT / case.parent
    dump, screen = case.with_suffix(".vcd"), f":{90 + os.getpid() % 400}"
    size = (1700, 1000)
    view = ROOT / case.with_suffix(".gtkw")
    # A wide column for values. GTKWave begins at 0 if there would be time behind the end of the dump in the window.
    text = view.read_text()
    marker = int(re.search(r"(?m)^\*-[0-9.]+ (\d+)", text)[1])
    for name, value in {"size": f"{size[0]} {size[1]}", "signals_width": "560", "timestart": str(max(0, marker - 300))}.items():
        text = re.sub(rf"(?m)^\[{name}\].*", f"[{name}] {value}", text)
    view.write_text(text)
    server = subprocess.Popen(
        ["Xvfb", screen, "-screen", "0", f"{size[0]}x{size[1]}x24", "-fbdir", str(folder)],
        stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL,
    )
    viewer = None
    try:
        time.sleep(2)
        environment = dict(os.environ, DISPLAY=screen, HOME=str(folder))
        viewer = subprocess.Popen(
            ["gtkwave", "-S", "/dev/null", str(dump), str(view)],
            env=environment, cwd=ROOT, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL,
        )
        frame, last, same = folder / "Xvfb_screen0", b"", 0
        for _ in range(60):
            time.sleep(1)
            now = frame.read_bytes()
            same = same + 1 if now == last and len(set(now[-200000::97])) > 3 else 0
            last = now
            if same == 4:
                break
        head = struct.unpack(">25I", last[:100])
        header, width, height, per_line, colours = head[0], head[4], head[5], head[12], head[19]
        pixels, rows = last[header + 12 * colours :], []
        for y in range(height):
            line = pixels[y * per_line : y * per_line + 4 * width]
            rows.append([(line[x + 2], line[x + 1], line[x]) for x in range(0, 4 * width, 4)])
        write_png(path, width, height, rows)
    finally:
        for process in (viewer, server):
            if process:
                process.terminate()
                process.wait()


def main():
    """Makes the pictures of the units that are named, or of all."""
    for unit in sys.argv[1:] or BUGS:
        folder, pictures = ROOT / "waves/planted" / unit, Path(__file__).resolve().parent
        shutil.rmtree(folder, ignore_errors=True)
        folder.mkdir(parents=True)
        case = plant(unit, folder)
        place = json.loads((ROOT / case).read_text())["failure"]
        print(f"{unit}: {case.stem} fails: {place}")
        step(case, pictures / f"{unit}-step.svg")
        page(case, pictures / f"{unit}-page.png")
        waves(case, pictures / f"{unit}-waves.png")
        shutil.rmtree(folder)


if __name__ == "__main__":
    main()
