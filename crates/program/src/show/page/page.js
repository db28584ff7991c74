'use strict';
// The page of one run or of several: moves through the steps of one by scrubber, buttons, keys or a click.
const runs = [...document.querySelectorAll('script.run')].map((data) => JSON.parse(data.textContent));
let number = 0;
// `null` for a case without a program, which has no steps.
let run = runs[number];
const CLASSES = {
  '#': ['active', 'executes', '#009e73'], '.': ['branch', 'waits to reconverge', '#e69f00'],
  'c': ['continue', 'has continued the loop', '#56b4e9'], 'k': ['break', 'has left the loop', '#d55e00'],
  'r': ['return', 'has returned', '#cc79a7'], '-': ['off', 'takes no part', '#888888'],
};
const el = (id) => document.getElementById(id);
const make = (tag, name, text) => {
  const made = document.createElement(tag);
  if (name) made.className = name;
  if (text !== undefined) made.textContent = text;
  return made;
};
const hex = (n) => '0x' + n.toString(16).padStart(3, '0');
const place = (found) => (found.wavefront === undefined ? '' : `w${found.wavefront} `) + hex(found.pc);
// Behind the last instruction is what the run ended in.
let last = 0;
let at = 0;
let waiting;

const state = (step) => {
  if (step === last) return { pc: run.end.pc, wavefront: run.end.wavefront, text: run.end.outcome, lanes: run.end.lanes, stack: run.end.stack };
  const [cycle, pc, text, lanes, stack, turn, wavefront] = run.rows[step];
  return { cycle, pc, wavefront, text: run.texts[text], lanes: run.lanes[lanes], stack: run.stacks[stack], turn: run.turns[turn] };
};

function lanes(into, letters, other) {
  into.textContent = '';
  for (let from = 0; from < letters.length; from += 8) {
    const eight = make('div', 'eight');
    for (let lane = from; lane < Math.min(from + 8, letters.length); lane++) {
      const [name, meaning] = CLASSES[letters[lane]];
      const differs = other !== undefined && other[lane] !== letters[lane];
      const cell = make('div', 'lane ' + name + (differs ? ' differs' : ''), letters[lane]);
      cell.title = `lane ${lane}: ${meaning}`;
      eight.append(cell);
    }
    into.append(eight);
  }
}

function timeline() {
  const canvas = el('timeline');
  const high = Math.max(4, Math.min(12, Math.floor(384 / run.width)));
  const ratio = window.devicePixelRatio || 1;
  const wide = canvas.clientWidth || 600;
  canvas.width = wide * ratio;
  canvas.height = run.width * high * ratio;
  canvas.style.height = run.width * high + 'px';
  const draw = canvas.getContext('2d');
  draw.scale(ratio, ratio);
  const cell = Math.max(6, Math.min(16, Math.floor(wide / (last + 1))));
  const shown = Math.floor(wide / cell);
  const first = Math.max(0, Math.min(at - Math.floor(shown / 2), last + 1 - shown));
  for (let step = first; step < Math.min(first + shown, last + 1); step++) {
    const letters = state(step).lanes;
    for (let lane = 0; lane < letters.length; lane++) {
      draw.fillStyle = CLASSES[letters[lane]][2];
      const full = letters[lane] === '#';
      const tall = full ? high - 1 : Math.max(1, Math.floor(high / 2) - 1);
      draw.fillRect((step - first) * cell, lane * high + Math.floor((high - tall) / 2), cell - 1, tall);
    }
  }
  draw.strokeStyle = getComputedStyle(document.body).color;
  draw.lineWidth = 2;
  draw.strokeRect((at - first) * cell - 1, 1, cell + 1, run.width * high - 2);
  canvas.onclick = (event) => go(first + Math.floor(event.offsetX / cell));
}

function program() {
  const list = el('program').firstElementChild;
  list.textContent = '';
  const executed = new Set(run.rows.map((row) => row[1]));
  for (const [pc, text] of run.program) {
    const line = make('li', executed.has(pc) ? '' : 'never', `${hex(pc)}  ${text}`);
    line.dataset.pc = pc;
    line.title = text;
    list.append(line);
  }
}

function stack(frames) {
  const list = el('stack').firstElementChild;
  list.textContent = '';
  if (frames.length === 0) list.append(make('li', 'dim', 'empty'));
  // The top first.
  for (const frame of [...frames].reverse()) {
    let text = frame.kind;
    if (frame.passes !== null) text += `, ${frame.passes} pass${frame.passes === 1 ? "" : "es"} left`;
    if (frame.address !== null) text += ` to ${hex(frame.address)}`;
    const line = make('li', 'mono', text);
    if (frame.lanes !== null) line.append(make('div', 'dim', frame.lanes));
    list.append(line);
  }
}

function go(step) {
  if (run === null) return;
  at = Math.max(0, Math.min(last, step));
  const now = state(at);
  el('step').textContent = at === last ? 'end' : `${at + 1} of ${last}`;
  el('cycle').textContent = now.cycle === undefined ? '' : `cycle ${now.cycle}`;
  el('pc').textContent = place(now);
  el('text').textContent = now.text;
  el('turn').textContent = now.turn || '';
  const failed = at === last && run.sides !== null;
  if (failed) el('text').textContent = 'RTL and golden model differ';
  el('one').hidden = failed;
  el('both').hidden = !failed;
  if (failed) {
    const [rtl, golden] = run.sides;
    el('rtlpc').textContent = place(rtl);
    el('goldenpc').textContent = place(golden);
    lanes(el('rtl'), rtl.lanes, golden.lanes);
    lanes(el('golden'), golden.lanes, rtl.lanes);
  } else {
    lanes(el('lanes'), now.lanes);
  }
  stack(now.stack);
  for (const line of el('program').querySelectorAll('li')) {
    const here = Number(line.dataset.pc) === now.pc;
    line.classList.toggle('here', here);
    if (here) {
      const box = el('program');
      const top = line.offsetTop - box.offsetTop;
      if (top < box.scrollTop || top + line.offsetHeight > box.scrollTop + box.clientHeight) {
        // In the middle, with a whole line at the top.
        const lines = [...el('program').querySelectorAll('li')].map((one) => one.offsetTop - box.offsetTop);
        box.scrollTop = lines.find((one) => one >= top - box.clientHeight / 2);
      }
    }
  }
  el('scrub').value = at;
  timeline();
  // Not at every step of a scrubber that is dragged: browsers refuse when there are too many.
  clearTimeout(waiting);
  waiting = setTimeout(named, 100);
}

// Names the step in the address of the page, so that it can be sent to others and opened again.
function named() {
  const which = runs.length > 1 ? `run=${number + 1}&` : '';
  history.replaceState(null, '', `#${which}step=${at === last ? 'end' : at + 1}`);
}

// The next step, in this direction, that changes what lanes do: they diverge, reconverge, switch, go on again, or end.
function turn(direction) {
  for (let step = at + direction; step >= 0 && step < last; step += direction) {
    if (state(step).lanes !== state(step + 1).lanes) return step;
  }
  return direction < 0 ? 0 : last;
}

const KEYS = {
  ArrowRight: () => at + 1, ArrowLeft: () => at - 1, PageDown: () => at + 16, PageUp: () => at - 16,
  Home: () => 0, End: () => last, n: () => turn(1), p: () => turn(-1),
};
document.addEventListener('keydown', (event) => {
  const key = KEYS[event.key];
  if (!key || run === null || event.ctrlKey || event.altKey || event.metaKey) return;
  event.preventDefault();
  go(key());
});
for (const button of document.querySelectorAll('button[data-key]')) {
  button.addEventListener('click', () => go(KEYS[button.dataset.key]()));
}
el('scrub').addEventListener('input', () => go(Number(el('scrub').value)));
window.addEventListener('resize', () => run && timeline());

// Shows another run, and what is said of it.
function choose(chosen) {
  number = chosen;
  run = runs[number];
  el('view').hidden = run === null;
  for (const part of document.querySelectorAll('[data-failure]')) part.hidden = Number(part.dataset.failure) !== number;
  for (const button of document.querySelectorAll('button[data-run]')) {
    button.setAttribute('aria-pressed', String(Number(button.dataset.run) === number));
  }
  if (run === null) {
    history.replaceState(null, '', `#run=${number + 1}`);
    return;
  }
  last = run.rows.length;
  el('scrub').max = last;
  program();
  // A failure opens at its end, where the difference is.
  go(run.failed ? last : 0);
}

// Goes to the run and step that the address of the page names: `#step=14`, `#run=2&step=end`. Without them it shows the first run.
function address() {
  const words = new URLSearchParams(location.hash.slice(1));
  const wanted = Math.min(Math.max(Number(words.get('run')) || 1, 1), runs.length) - 1;
  const step = words.get('step');
  choose(wanted);
  if (step === 'end') go(last);
  else if (Number(step) >= 1) go(Math.floor(Number(step)) - 1);
}
for (const button of document.querySelectorAll('button[data-run]')) {
  button.addEventListener('click', () => choose(Number(button.dataset.run)));
}
window.addEventListener('hashchange', address);
address();
