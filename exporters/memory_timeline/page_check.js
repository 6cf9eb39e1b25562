// Runs the script of a memory timeline's page (argv[2], as test_sample_page
// makes it) against the little of a browser that it uses, and checks what it
// draws and says.
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
  getContext() { return this.context = new Context(); }
  setPointerCapture() {}
}

const elements = {};
for (const id of ["title", "maxima", "chart", "legend", "note", "tip"]) {
  elements[id] = new Element();
  assert(page.includes(`id="${id}"`), id);
}
elements.data = {textContent: between('id="data">\n', "</script>")};
vm.runInNewContext(between("<script>", "</script>"), {
  document: {
    getElementById: (id) => elements[id],
    createElement: () => new Element(),
  },
  window: {devicePixelRatio: 2, addEventListener: () => {}},
});

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
assert.strictEqual(elements.note.textContent, "");

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
assert.strictEqual(tipAt(80 + 50), "0.500 ms\n0 B");
assert.strictEqual(
    tipAt(80 + 250),
    "2.500 ms\n40.00 MiB\nTEMPORARY  16.00 MiB\nUnknown  24.00 MiB");
assert.strictEqual(tipAt(80 + 500), "5.000 ms\n24.00 MiB\nUnknown  24.00 MiB");
assert.strictEqual(tip.style.display, "block");
send("pointermove", {offsetX: 10});
assert.strictEqual(tip.style.display, "none");

// The wheel zooms about the pointer, dragging moves, a double click resets.
send("wheel", {offsetX: 80 + 500, deltaY: -500});
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
console.log("the page draws and answers the mouse");
