//! The command `render`: pictures, numbers, pages, expected pixels, and its error messages.

use std::fs;
use std::path::Path;

use crate::common::rtl::Rtl as Folder;
use crate::common::schema::Formats;
use crate::common::shaders::{mandelbrot, own, renderer};
use crate::common::{ROOT, Tested, arg, reconverge_ends, text};
use reconverge::r500::R500;
use reconverge::r500::alu::picture::rgb;
use serde_json::Value;

const MANDELBROT: &str = "examples/shaders/mandelbrot.txt";

/// Runs `render` with pictures, numbers and page in a folder; what it prints, without the folder.
fn rendered(dir: &Path, more: &[&str]) -> String {
    let [png, heat, json, html] = ["p.png", "h.png", "n.json", "p.html"].map(|name| dir.join(name));
    let args = [
        &[
            "render",
            "r500",
            MANDELBROT,
            "--safe-loops",
            "--size",
            "18x10",
            "--block",
            "8,4",
            "--save",
        ][..],
        &[
            "--png",
            arg(&png),
            "--heat",
            arg(&heat),
            "--json",
            arg(&json),
        ],
        &["--html", arg(&html), "--out", arg(dir)],
        more,
    ];
    reconverge_ends(0, &args.concat()).replace(arg(dir), "DIR")
}

/// A PNG of red, green, blue and opacity: width, height, bytes.
fn decoded(path: &Path) -> (u32, u32, Vec<u8>) {
    let file = std::io::BufReader::new(fs::File::open(path).unwrap());
    let mut reader = png::Decoder::new(file).read_info().unwrap();
    let mut bytes = vec![0; reader.output_buffer_size().unwrap()];
    let info = reader.next_frame(&mut bytes).unwrap();
    assert_eq!(info.color_type, png::ColorType::Rgba);
    (info.width, info.height, bytes)
}

/// A picture whose right and lower blocks lie partly outside; stalls and the number of workers change no pixel, and in the output
/// only the number of cycles.
#[test]
fn a_picture_is_its_source_and_comes_with_its_numbers_and_its_page() {
    let dir = tempfile::tempdir().unwrap();
    let printed = rendered(dir.path(), &["--jobs", "2"]);
    assert_eq!(printed, PRINTED);

    let (width, height, bytes) = decoded(&dir.path().join("p.png"));
    assert_eq!((width, height), (18, 10));
    let scene = renderer(own("mandelbrot"), 18, 10);
    for (n, pixel) in (0..).zip(bytes.chunks(4)) {
        let (x, y) = (n % 18, n / 18);
        let [v0, ..] = scene.varyings(x, y);
        let [r, g, b] = rgb(mandelbrot([v0[0], v0[1]], 96.0).map(f32::to_bits));
        assert_eq!(pixel, [r, g, b, 255], "{x},{y}");
    }
    let (width, height, heat) = decoded(&dir.path().join("h.png"));
    assert_eq!((width, height), (36, 10));
    // The block with the most cycles is white, the one with the fewest black.
    let left = |n: &usize| n % 36 < 18;
    let mut pixels = heat
        .chunks(4)
        .enumerate()
        .filter(|(n, _)| left(n))
        .map(|(_, p)| p);
    assert!(pixels.clone().any(|p| p == [255; 4]) && pixels.any(|p| p == [0, 0, 0, 255]));

    let numbers = fs::read_to_string(dir.path().join("n.json")).unwrap();
    if let Err(why) = Formats::of::<R500>(16).object("picture", &numbers) {
        panic!("picture{why}");
    }
    let numbers: Value = serde_json::from_str(&numbers).unwrap();
    let blocks = numbers["blocks"].as_array().unwrap();
    assert_eq!(
        (blocks.len(), &numbers["wavefronts"]),
        (5 * 3, &Value::from(15))
    );
    for (n, name) in ["cycles", "lanes", "room"].into_iter().enumerate() {
        let sum = |values: &[Value], at: &dyn Fn(&Value) -> u64| values.iter().map(at).sum::<u64>();
        let total = numbers["total"][name].as_u64().unwrap();
        assert_eq!(sum(blocks, &|b| b[n].as_u64().unwrap()), total, "{name}");
        let slots = numbers["slots"].as_array().unwrap();
        assert_eq!(sum(slots, &|s| s[name].as_u64().unwrap()), total, "{name}");
    }
    // Pixels outside the picture do not affect this program, and need not get the colour that they have alone.
    assert_eq!(numbers["alone"], 18 * 10);

    let page = fs::read_to_string(dir.path().join("p.html")).unwrap();
    for outside in [
        "http:", "https:", "<script", "<link", "url(", "src=\"/", "@import",
    ] {
        assert!(!page.contains(outside), "{outside}");
    }
    for tag in [
        "table", "tr", "td", "figure", "pre", "div", "p", "details", "h2", "b", "i", "span",
    ] {
        let opened =
            page.matches(&format!("<{tag}>")).count() + page.matches(&format!("<{tag} ")).count();
        let closed = page.matches(&format!("</{tag}>")).count();
        assert_eq!(opened, closed, "{tag}");
        assert!(opened > 0, "{tag}");
    }
    assert_eq!(page.matches("src=\"data:image/png,%89%50%4e%47").count(), 3);
    assert!(page.contains("<h2>The block of pixel 8,4</h2>"));
    let branches = numbers["branches"].as_array().unwrap();
    for branch in branches {
        let statement = branch["statement"].as_str().unwrap().replace('>', "&gt;");
        assert!(page.contains(&statement), "{statement}");
    }

    let case = dir.path().join("r500.mandelbrot.x8.y4.1.json");
    let replayed = reconverge_ends(0, &["replay", arg(&case), "--out", arg(dir.path())]);
    assert!(
        replayed.starts_with("r500.mandelbrot.x8.y4.1  done, "),
        "{replayed}"
    );

    let other = tempfile::tempdir().unwrap();
    let again = rendered(other.path(), &["--jobs", "1", "--stall16", "5"]);
    let but_cycles = |text: &str| -> Vec<String> {
        let lines = text.lines().filter(|l| !l.starts_with("  lock-step "));
        lines.map(str::to_owned).collect()
    };
    assert_eq!(but_cycles(&again), but_cycles(&printed));
    assert_ne!(again, printed);
    for file in ["p.png", "h.png"] {
        let [a, b] = [&dir, &other].map(|dir| fs::read(dir.path().join(file)).unwrap());
        assert!(a == b, "{file}");
    }
}

/// The picture that docs/rendering.md shows, which its command makes through the RTL (`cargo xtask readme`).
#[test]
fn the_picture_of_the_readme_is_its_source_in_every_pixel() {
    let (width, height, bytes) = decoded(&Path::new(ROOT).join("examples/shaders/mandelbrot.png"));
    assert_eq!((width, height), (256, 256));
    let scene = renderer(own("mandelbrot"), width, height);
    let wrong = (0..).zip(bytes.chunks(4)).filter(|(n, pixel)| {
        let [v0, ..] = scene.varyings(n % width, n / width);
        let [r, g, b] = rgb(mandelbrot([v0[0], v0[1]], 96.0).map(f32::to_bits));
        *pixel != [r, g, b, 255]
    });
    assert_eq!(wrong.count(), 0);
}

const PRINTED: &str = "\
r500.mandelbrot  18 x 10 pixels, 15 wavefronts, 7,316 instructions
  lock-step       0 mismatches in 7,406 cycles, 17 fields each
  scalar judge    180 pixels get the same colour alone, to the bit
  SIMD efficiency 46.2 %: 7.06 of 15.27 lanes at work in a cycle
  slot  statement          times  diverged  lanes in  stay on  arm   cycles  of all  efficiency
     2  LOOP i0               15         0       180      180  body   7,081  96.8 %      45.2 %
     5    IF alu, no ELSE    544         0     3,862    3,862  then       5   0.1 %      40.0 %
     6      BREAK, 1 deep      5         0        32       32
    11    IF alu, no ELSE    539        52     3,830    3,486  then      62   0.8 %      18.0 %
    12      BREAK, 1 deep     62         0       148       20
    21  IF alu, with ELSE     15         5       180      148  then     120   1.6 %      82.2 %
                                                               else       5   0.1 %      40.0 %
  picture         DIR/p.png
  heat map        DIR/h.png  (left: 49 to 1,283 cycles a block, black to white; right: lanes idle for 0 to 100 % of it, at most 80.8 %)
  numbers         DIR/n.json
  page            DIR/p.html
  case            DIR/r500.mandelbrot.x8.y4.1.json
";

/// RTL with a decision changed: the block is reported like any case, and its case replays.
#[test]
fn a_planted_bug_in_the_rtl_is_reported_with_its_block() {
    let copy = Folder::own("r500").copy();
    copy.change(R500::faults("decisions")[0]);
    let out = copy.dir().join("out");
    let place = ["--rtl", copy.arg(), "--out", arg(&out)];
    let args = [
        &[
            "render",
            "r500",
            MANDELBROT,
            "--safe-loops",
            "--size",
            "16x16",
        ][..],
        &place,
    ]
    .concat();
    let report = reconverge_ends(1, &args);
    let reported: String = report
        .lines()
        .take(PLANTED.lines().count())
        .map(|l| l.to_owned() + "\n")
        .collect();
    assert_eq!(reported, PLANTED);
    let case = fs::read_dir(&out)
        .unwrap()
        .map(|entry| entry.unwrap().path());
    let case = case
        .filter(|path| path.extension().is_some_and(|x| x == "json"))
        .collect::<Vec<_>>();
    let [case] = &case[..] else {
        panic!("{case:?}");
    };
    let again = reconverge_ends(1, &[&["replay", arg(case)], &place[..]].concat());
    assert_eq!(again.lines().next(), report.lines().next());
    // A failure leaves no picture.
    assert!(!out.join("r500.mandelbrot.png").exists());
}

const PLANTED: &str = "\
MISMATCH r500.mandelbrot.x0.y0.1  cycle 6  (6 cycles, 17 fields each, agreed before this)
  field       rtl               golden
  pc          0x013             0x003             <--
  loop_depth  0                 1                 <--
  loops[0]    LOOP n=0 aL=0     LOOP n=255 aL=0   <--
  addr_depth  0                 0
  err         0 OK              0 OK
  rule    docs/spec/r500.md#r500-4.4-a LOOP or REP that stays pushes a frame; the unit stays by its voters (r500-4.2-b)
";

/// The listings hold the sources that lie beside them.
#[test]
fn listings_hold_their_sources() {
    let dir = Path::new(ROOT).join("examples/shaders");
    let mut count = 0;
    for entry in fs::read_dir(&dir).unwrap() {
        let path = entry.unwrap().path();
        if path.extension().is_none_or(|x| x != "frag") {
            continue;
        }
        let source = fs::read_to_string(&path).unwrap();
        let listing = fs::read_to_string(path.with_extension("txt")).unwrap();
        assert!(
            listing.starts_with(&format!("# GLSL\n{source}# MESA ")),
            "{}",
            path.display()
        );
        count += 1;
    }
    assert_eq!(count, 4);
}

/// What Mesa's r300 driver makes of the sources today.
#[test]
#[ignore = "needs Mesa 22.3.6 with its r300 driver: the head of examples/shaders/compile says how to get it"]
fn listings_are_what_mesa_makes_of_their_sources() {
    let script = Path::new(ROOT).join("examples/shaders/compile");
    let output = std::process::Command::new(script)
        .arg("--check")
        .output()
        .unwrap();
    assert!(
        output.status.success(),
        "{}{}",
        text(&output.stdout),
        text(&output.stderr)
    );
}
