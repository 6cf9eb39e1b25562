// Runs the script of a memory timeline's page (argv[2], as test_sample_page
// makes it) against the little of a browser that it uses, and checks what it
// draws and says. All calls of two drawings are in testdata/page_calls.golden.txt,
// which KYMO_UPDATE_GOLDENS rewrites.
"use strict";
const assert = require("assert");
const fs = require("fs");
const vm = require("vm");

const page = fs.readFileSync(process.argv[2], "utf8");
const between = (begin, end) => {
  const from = page.indexOf(begin) + begin.length;
  assert(from >= begin.length, begin);
  return page.slice(from, page.indexOf(end, from));
};

// Remembers what was filled and written.
class Context {
  constructor() { this.fills = []; this.texts = []; this.points = []; }
  beginPath() { this.points = []; }
  moveTo(x, y) { this.lineTo(x, y); }
  lineTo(x, y) {
    assert(Number.isFinite(x) && Number.isFinite(y));
    this.points.push([x, y]);
  }
  fill() { this.fills.push({color: this.fillStyle, points: this.points}); }
  fillText(text, x, y) {
    assert(Number.isFinite(x) && Number.isFinite(y));
    this.texts.push(text);
  }
}
for (const name of ["closePath", "stroke", "save", "restore", "rect", "clip",
                    "scale", "translate", "rotate"]) {
  Context.prototype[name] = () => {};
}

// What was called and set since the last drawing began.
let calls = [];
const shown = (value) =>
    typeof value === "number" ? String(Math.round(value * 100) / 100) : value;
const watched = (context) => new Proxy(context, {
  get(target, name) {
    const value = target[name];
    if (typeof value !== "function") return value;
    return (...args) => {
      if (name === "scale") calls = [];
      calls.push(`${name}(${args.map(shown).join(", ")})`);
      return value.apply(target, args);
    };
  },
  set(target, name, value) {
    calls.push(`${name} = ${value}`);
    target[name] = value;
    return true;
  },
});

class Element {
  constructor() {
    this.textContent = "";
    this.style = {};
    this.children = [];
    this.listeners = {};
  }
  addEventListener(name, listener) { this.listeners[name] = listener; }
  append(...children) { this.children.push(...children); }
  getBoundingClientRect() { return {width: 1096, height: 648}; }
  getContext() { return this.context = watched(new Context()); }
  setPointerCapture() {}
}

// Runs the script with these data, and returns the page's elements.
function run(data) {
  const elements = {};
  for (const id of ["title", "maxima", "chart", "legend", "note", "tip"]) {
    elements[id] = new Element();
    assert(page.includes(`id="${id}"`), id);
  }
  elements.data = {textContent: data};
  vm.runInNewContext(between("<script>", "</script>"), {
    document: {
      getElementById: (id) => elements[id],
      createElement: () => new Element(),
    },
    window: {devicePixelRatio: 2, addEventListener: () => {}},
  });
  return elements;
}
const elements = run(between('id="data">\n', "</script>"));

// The chart is 1000 x 600 pixels; 10 ms from 80 to 1080, so 100 pixels a ms.
const {chart, tip} = elements;
const send = (name, event) => chart.listeners[name](
    {preventDefault: () => {}, clientX: 0, clientY: 0, pointerId: 1, ...event});
const tipAt = (x) => {
  send("pointermove", {offsetX: x});
  return tip.textContent;
};
const colors = () => chart.context.fills.map((fill) => fill.color);

assert.strictEqual(elements.title.textContent, "Memory timeline of cpu");
assert.strictEqual(elements.maxima.textContent,
                   "Max memory allocated: 40.00 MiB");
assert.deepStrictEqual(
    elements.legend.children.map((entry) => entry.children[1]),
    ["PARAMETER", "OPTIMIZER_STATE", "INPUT", "TEMPORARY", "ACTIVATION",
     "GRADIENT", "AUTOGRAD_DETAIL", "Unknown"]);
assert.deepStrictEqual(
    elements.legend.children.map((entry) => entry.children[0].style.background),
    ["darkgreen", "goldenrod", "black", "mediumpurple", "red", "mediumblue",
     "royalblue", "grey"]);
assert.strictEqual(elements.note.textContent, "");
assert.strictEqual(chart.width, 2 * 1096);
assert.strictEqual(chart.height, 2 * 648);
let drawings = "== all\n" + calls.join("\n") + "\n";

// Areas lie on top of one another: TEMPORARY below Unknown.
assert.deepStrictEqual(colors(), ["mediumpurple", "grey"]);
const [temporary, unknown] = chart.context.fills;
const top = (fill) => Math.min(...fill.points.map(([, y]) => y));
const perMiB = 600 / (40 * 1.05);
assert(Math.abs(top(temporary) - (608 - 16 * perMiB)) < 0.01);
assert(Math.abs(top(unknown) - (608 - 40 * perMiB)) < 0.01);
assert.strictEqual(Math.min(...unknown.points.map(([x]) => x)), 180);
for (const text of ["Time (ms)", "Memory (MiB)", "0", "10", "40"]) {
  assert(chart.context.texts.includes(text), text);
}

// Pointing.
send("pointermove", {offsetX: 80 + 50, clientX: 300, clientY: 200});
assert.strictEqual(tip.style.left, "312px");
assert.strictEqual(tip.style.top, "212px");
assert.strictEqual(tipAt(80 + 50), "0.500 ms\n0 B");
assert.strictEqual(
    tipAt(80 + 250),
    "2.500 ms\n40.00 MiB\nTEMPORARY  16.00 MiB\nUnknown  24.00 MiB");
assert.strictEqual(tipAt(80 + 500), "5.000 ms\n24.00 MiB\nUnknown  24.00 MiB");
assert.strictEqual(tip.style.display, "block");
send("pointermove", {offsetX: 10});
assert.strictEqual(tip.style.display, "none");
send("pointermove", {offsetX: 80});
assert.strictEqual(tip.style.display, "block");
send("pointermove", {offsetX: 1080});
assert.strictEqual(tip.textContent, "10.000 ms\n0 B");
send("pointermove", {offsetX: 1081});
assert.strictEqual(tip.style.display, "none");
send("pointermove", {offsetX: 500});
send("pointerleave", {});
assert.strictEqual(tip.style.display, "none");

// The wheel zooms about the pointer, dragging moves, a double click resets.
send("wheel", {offsetX: 80 + 500, deltaY: -500});
drawings += "== zoomed\n" + calls.join("\n") + "\n";
assert(tipAt(80 + 500).startsWith("5.000 ms"));
assert(tipAt(80).startsWith("3.159 ms"), tipAt(80));
assert.deepStrictEqual(colors(), ["mediumpurple", "grey"]);
send("pointerdown", {offsetX: 500});
send("pointermove", {offsetX: 600});
send("pointerup", {offsetX: 600});
assert(tipAt(80 + 600).startsWith("5.000 ms"), tipAt(80 + 600));
send("wheel", {offsetX: 80, deltaY: 1e5});
assert(tipAt(80).startsWith("0.000 ms"));
assert(tipAt(1080).startsWith("10.000 ms"));
send("wheel", {offsetX: 80 + 500, deltaY: -1e5});
assert(tipAt(80).startsWith("5.000 ms"));
send("dblclick", {});
assert(tipAt(80).startsWith("0.000 ms"));
assert(tipAt(1080).startsWith("10.000 ms"));

// Units of memory, and notes that only some pages have.
const changed = (members) => run(JSON.stringify({
  ...JSON.parse(between('id="data">\n', "</script>")), ...members}));
for (const [bytes, text] of [[0, "0 B"], [1023, "1023 B"], [1024, "1.00 KiB"],
                             [2 ** 20 - 1, "1024.00 KiB"],
                             [2 ** 20, "1.00 MiB"], [2 ** 30, "1.00 GiB"]]) {
  assert.strictEqual(changed({max_allocated: bytes}).maxima.textContent,
                     `Max memory allocated: ${text}`);
}
assert.strictEqual(
    changed({max_allocated: 1, max_reserved: 3072}).maxima.textContent,
    "Max memory allocated: 1 B, max memory reserved: 3.00 KiB");
assert.strictEqual(changed({points: 5}).note.textContent,
                   "4 of 5 points are shown; peaks are among them.");
const empty = changed({times_us: [], bytes: [], end_us: 0, points: 0});
assert.strictEqual(empty.note.textContent, "");
assert.strictEqual(empty.chart.context.fills.length, 0);

// From 2 to 3 ms both areas are there, from 3 to 9 ms one.
const golden = "testdata/page_calls.golden.txt";
if (process.env.KYMO_UPDATE_GOLDENS) {
  fs.writeFileSync(process.env.KYMO_UPDATE_GOLDENS +
                   "/exporters/memory_timeline/" + golden, drawings);
} else {
  assert.strictEqual(drawings, fs.readFileSync(golden, "utf8"));
}
console.log("the page draws and answers the mouse");
