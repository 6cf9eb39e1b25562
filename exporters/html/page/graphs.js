// graphs.js - the flame graphs of a trace, and the tables behind them.
import { Trace } from "./data.js";
import { FlameGraph } from "./flame.js";
import { bytesText, countText, timeText } from "./format.js";
import { functionsWithin, noSums, nodeOfFrames, operationsWithin, rangeTree,
  stackSums, stackTree } from "./interval.js";
import { operationTable } from "./summary.js";
import { addWaits } from "./waits.js";
import { button, element, field } from "./view.js";
import { makeTable } from "./table.js";

/** @typedef {import("./interval.js").FlameNode} FlameNode */
/** @typedef {{ title: string, text: (value: number) => string,
 *   tree: (inverted: boolean, onlyPython?: boolean) => FlameNode,
 *   hasPython?: boolean, isBefore?: boolean }} Source
 *   hasPython: it can leave out what is not Python; isBefore: it shows the
 *   earlier of two traces */

/**
 * The flame graphs of a part of the time.
 * @param {Trace} trace
 * @param {number} from
 * @param {number} to
 * @returns {Source[]}
 */
export function timeSources(trace, from, to) {
  /** @type {Source[]} */
  const sources = [];
  /** @param {string} title
   * @param {() => ReturnType<typeof noSums>} sumUp by stack */
  const addStacks = (title, sumUp) => sources.push({ title, text: timeText,
    hasPython: trace.hasPython, tree: (inverted, onlyPython) =>
      stackTree(trace, sumUp(), inverted, onlyPython) });
  const samples = () => stackSums(trace, from, to);
  /** @param {ReturnType<typeof noSums>} sums */
  const withWaits = (sums) => {
    addWaits(trace, from, to, sums);
    return sums;
  };
  const hasSamples = trace.sampleTimes.length > 0;
  const hasWaits = trace.waitSums.length > 0;
  if (hasSamples) addStacks("CPU samples", samples);
  if (hasWaits) addStacks("Waits", () => withWaits(noSums(trace)));
  if (hasWaits && hasSamples) {
    addStacks("CPU samples and waits", () => withWaits(samples()));
  }
  if (trace.starts.length > 0) {
    sources.push({ title: "Ranges", text: timeText,
      tree: (inverted) => rangeTree(trace, from, to, inverted) });
  }
  return sources;
}

/**
 * Says whose time a page that does not have all ranges gives to the ranges
 * around them.
 * @param {Trace} trace @param {string} place
 */
export function selfNote(trace, place) {
  const { events_left_out: count, least_ns: least } = trace.meta;
  return count === 0 ? [] : [element("p", { class: "note" },
    `The page lacks ${countText(count)} short ranges (less than ${
      timeText(least)}): ${place} their time to the ranges around them, as ` +
    "self time. The time of those that are in no other range is missing.")];
}

/** @param {Trace} trace @returns {Source[]} */
export function memorySources(trace) {
  return trace.memory.map((graph) => ({
    title: `Memory ${graph.title}`,
    text: bytesText,
    hasPython: trace.hasPython,
    tree: (inverted, onlyPython) => {
      const sums = noSums(trace);
      graph.stacks.forEach((stack, i) => {
        sums.weights[stack] += graph.bytes[i];
        sums.counts[stack] += graph.blocks[i];
      });
      return stackTree(trace, sums, inverted, onlyPython);
    },
  }));
}

/** One graph with its choices. It begins with the first source that has
 * anything.
 * @param {string} id @param {Source[]} sources */
export function graphView(id, sources) {
  if (sources.length === 0) {
    return element("p", { class: "note" },
      "The trace has no ranges, no samples and no memory with stacks.");
  }
  let [source] = sources;
  let tree = source.tree(false);
  for (const one of sources.slice(1)) {
    if (tree.total > 0) break;
    source = one;
    tree = one.tree(false);
  }
  let inverted = false;
  let onlyPython = false;
  const graph = new FlameGraph(
    "Flame graph. The arrow keys move, Enter zooms, Escape shows all.",
    (value) => source.text(value));
  graph.canvas.id = `${id}-canvas`;
  const select = /** @type {HTMLSelectElement} */ (element("select", {
    "aria-label": "What the graph shows",
    change: () => {
      source = sources[select.selectedIndex];
      show();
    },
  }, ...sources.map((one) => element("option", {}, one.title))));
  select.selectedIndex = sources.indexOf(source);
  const search = field("Search the graph", { type: "search",
    input: () => graph.find(search.value),
    searchname: (/** @type {CustomEvent<string>} */ event) =>
      graph.find(event.detail, true) });
  /** @param {string} text @param {string} label
   * @param {(on: boolean) => void} change */
  const toggle = (text, label, change) => {
    const made = button(text, label, () => {
      const on = made.getAttribute("aria-pressed") !== "true";
      made.setAttribute("aria-pressed", String(on));
      change(on);
    });
    made.setAttribute("aria-pressed", "false");
    return made;
  };
  const pythonOnly = toggle("Python only", "Leave out the functions that are " +
    "not Python's: their time is that of the function of Python that called " +
    "them. What threads waited for stays", (on) => {
    onlyPython = on;
    show();
  });
  const behind = element("details", {}, element("summary", {}, "As a table"));
  behind.addEventListener("toggle", fillTable);

  function fillTable() {
    const old = behind.querySelector("section");
    if (old) old.remove();
    if (!(/** @type {HTMLDetailsElement} */ (behind)).open || !graph.root) return;
    behind.append(makeTable({
      id: `${id}-table`, caption: source.title, sortBy: 1,
      rows: namesOf(graph.root), columns: [
        { title: "Name", kind: "text", value: (row) => row.name },
        { title: "Self", kind: source.text === bytesText ? "bytes" : "ns",
          value: (row) => row.self },
        { title: "Outermost total",
          kind: source.text === bytesText ? "bytes" : "ns",
          value: (row) => row.total },
      ],
    }));
  }

  function show(root = source.tree(inverted, onlyPython)) {
    pythonOnly.hidden = !source.hasPython;
    graph.isBefore = source.isBefore === true;
    graph.show(root);
    fillTable();
  }
  /**
   * Shows a stack in the graph where it weighs most nearly so much.
   * @param {string[]} frames @param {number} weight @param {boolean} isMemory
   * @param {string} name what to search if no graph has the stack
   * @param {boolean} isOneOfMany then the name is searched all the same
   */
  function showStack(frames, weight, isMemory, name, isOneOfMany) {
    /** @type {any} */
    let best = null;
    let bestDistance = Infinity;
    sources.forEach((one, at) => {
      if ((one.text === bytesText) !== isMemory) return;
      const node = nodeOfFrames(one.tree(false), frames);
      const distance = node ? Math.abs(node.total - weight) : Infinity;
      if (node && distance < bestDistance) {
        best = { at, node };
        bestDistance = distance;
      }
    });
    const { at, node } = best || { at: sources.findIndex((one) =>
      (one.text === bytesText) === isMemory), node: null };
    select.selectedIndex = Math.max(at, 0);
    source = sources[select.selectedIndex];
    search.value = node && !isOneOfMany ? "" : name;
    graph.find(search.value, isOneOfMany);
    onlyPython = false;
    pythonOnly.setAttribute("aria-pressed", "false");
    show();
    const shown = node && !isOneOfMany && graph.root &&
      nodeOfFrames(graph.root, frames);
    if (shown) graph.zoom(shown);
    graph.canvas.focus();
  }

  show(tree);
  return element("div", { class: "graph", id,
    showstack: (/** @type {CustomEvent} */ { detail }) =>
      showStack(detail.frames, detail.weight, detail.isMemory, detail.name,
        detail.isOneOfMany) },
    element("div", { class: "bar" }, select, search,
      toggle("Callees first", "Begin with the innermost frames", (on) => {
        inverted = on;
        show();
      }),
      pythonOnly,
      toggle("In order", "Keep the order in which stacks were first seen", (on) => {
        graph.byWeight = !on;
        graph.draw();
      }),
      button("Reset", "Show the whole graph", () => {
        if (graph.root) graph.zoom(graph.root);
      })),
    graph.element, behind);
}

/** Sums by name; a name inside of itself adds nothing to its total.
 * @param {FlameNode} root */
function namesOf(root) {
  /** @type {Map<string, { name: string, self: number, total: number }>} */
  const rows = new Map();
  /** @type {Map<string, number>} how often a name is open */
  const open = new Map();
  /** @type {{ node: FlameNode, leaves: boolean }[]} */
  const stack = root.children.map((node) => ({ node, leaves: false }));
  while (stack.length > 0) {
    const { node, leaves } = /** @type {any} */ (stack.pop());
    const depth = open.get(node.name) || 0;
    if (leaves) {
      open.set(node.name, depth - 1);
      continue;
    }
    let row = rows.get(node.name);
    if (!row) rows.set(node.name, row = { name: node.name, self: 0, total: 0 });
    row.self += node.self;
    if (depth === 0) row.total += node.total;
    open.set(node.name, depth + 1);
    stack.push({ node, leaves: true });
    for (const child of node.children) stack.push({ node: child, leaves: false });
  }
  return [...rows.values()];
}

/**
 * Tables and flame graph of a part of the time.
 * @param {Trace} trace
 * @param {number} from
 * @param {number} to
 * @param {string} title
 * @param {(name: string) => void} search
 * @param {boolean} waitsFirst the graph begins with the waits
 */
export function intervalView(trace, from, to, title, search, waitsFirst) {
  const parts = [];
  const leftOut = trace.meta.events_left_out;
  const sources = timeSources(trace, from, to);
  if (waitsFirst) {
    sources.sort((a, b) =>
      Number(b.title === "Waits") - Number(a.title === "Waits"));
  }
  const isWhole = from === -Infinity && to === Infinity;
  const operations = operationsWithin(trace, from, to);
  if (isWhole && leftOut > 0) {
    parts.push(operationTable(trace.summary, "interval-operations",
      (row) => search(row.name)));
  } else if (operations.length > 0) {
    parts.push(makeTable({
      id: "interval-operations", caption: "Operations", rows: operations,
      sortBy: 1, open: (row) => search(row.name), columns: [
        { title: "Operation", kind: "text", value: (row) => row.name },
        { title: "Self", kind: "ns", value: (row) => row.self },
        { title: "Total", kind: "ns", value: (row) => row.total },
        { title: "Calls", kind: "count", value: (row) => row.count },
        { title: "Where", kind: "text",
          value: (row) => row.isDevice ? "device" : "CPU" },
      ],
    }));
  }
  const functions = functionsWithin(trace, from, to);
  if (functions.length > 0) {
    parts.push(makeTable({
      id: "interval-functions", caption: "Functions", rows: functions,
      sortBy: 1, columns: [
        { title: "Function", kind: "text", value: (row) => row.name },
        { title: "Self", kind: "ns", value: (row) => row.self },
        { title: "Total", kind: "ns", value: (row) => row.total },
        { title: "Samples", kind: "count", value: (row) => row.samples },
        { title: "Module", kind: "text", value: (row) => row.module },
      ],
    }));
  }
  return element("section", { class: "interval", id: "interval" },
    element("h2", {}, title), ...selfNote(trace, isWhole
      ? "the graph below gives" : "the table and the graph below give"),
    graphView("interval-graph", sources),
    element("div", { class: "pair" }, ...parts));
}
