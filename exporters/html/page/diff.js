// diff.js - two traces side by side: what got slower, faster, new, gone.
import { Trace } from "./data.js";
import { bytesText, countText, shareText, timeText, visible } from "./format.js";
import { graphView, memorySources, timeSources } from "./graphs.js";
import { flameNode, functionsWithin } from "./interval.js";
import { commandOf } from "./summary.js";
import { makeTable } from "./table.js";
import { element } from "./view.js";

/** @typedef {import("./interval.js").FlameNode} FlameNode */
/** @typedef {import("./graphs.js").Source} Source */
/** @typedef {Parameters<Source["tree"]>} HowToShow */
/** @typedef {{ name: string, where: string, before: number, after: number,
 *   callsBefore: number, callsAfter: number }} Row */

/**
 * The children of nodes that are one, by name: functions of several modules may
 * share a name, and modules may have other paths in the other trace.
 * @param {FlameNode[]} nodes @returns {Map<string, FlameNode[]>}
 */
function childrenByName(nodes) {
  const children = new Map();
  for (const child of nodes.flatMap((node) => node.children)) {
    const same = children.get(child.name);
    if (same) same.push(child);
    else children.set(child.name, [child]);
  }
  return children;
}

/** @param {FlameNode[]} nodes @param {"self" | "total" | "count"} member */
function sumOver(nodes, member) {
  return nodes.reduce((sum, node) => sum + node[member], 0);
}

/**
 * One tree of two. `total` is what is shown: of the later trace, or of the
 * earlier one. `other` is the total of the other trace.
 * @param {FlameNode} shown @param {FlameNode} other
 */
function joinedTree(shown, other) {
  const root = flameNode(shown.name, "", null);
  /** @type {[FlameNode, FlameNode[], FlameNode[]][]} */
  const open = [[root, [shown], [other]]];
  while (open.length > 0) {
    const [node, these, others] = /** @type {any} */ (open.pop());
    node.self = sumOver(these, "self");
    node.total = sumOver(these, "total");
    node.count = sumOver(these, "count");
    node.other = sumOver(others, "total");
    const counterparts = childrenByName(others);
    for (const [name, children] of childrenByName(these)) {
      const made = flameNode(name, children[0].note, node);
      node.children.push(made);
      open.push([made, children, counterparts.get(name) || []]);
    }
  }
  return root;
}

/**
 * The flame graphs that both traces have.
 * @param {Trace} before @param {Trace} after @returns {Source[]}
 */
function joinedSources(before, after) {
  const sourcesOf = (/** @type {Trace} */ trace) => [
    ...timeSources(trace, -Infinity, Infinity), ...memorySources(trace)];
  const earlier = sourcesOf(before);
  return sourcesOf(after).flatMap((source) => {
    // Another process has another number.
    const kindOf = (/** @type {Source} */ one) =>
      one.title.replace(/ of process \d+/, "");
    const other = earlier.find((one) => kindOf(one) === kindOf(source));
    if (!other) return [];
    return [
      { ...source, tree: (/** @type {HowToShow} */ ...how) =>
        joinedTree(source.tree(...how), other.tree(...how)) },
      { ...source, title: `${source.title}: before`, isBefore: true,
        tree: (/** @type {HowToShow} */ ...how) =>
          joinedTree(other.tree(...how), source.tree(...how)) },
    ];
  });
}

/** @param {Row[]} rows */
function byChange(rows) {
  return rows.sort((a, b) => Math.abs(b.after - b.before) -
    Math.abs(a.after - a.before));
}

/**
 * Rows of both traces with the same key.
 * @template T
 * @param {T[]} before @param {T[]} after
 * @param {(row: T) => { name: string, where: string, time: number,
 *   calls: number }} read
 */
function joinedRows(before, after, read) {
  /** @type {Map<string, Row>} */
  const rows = new Map();
  const add = (/** @type {T} */ from, /** @type {boolean} */ isAfter) => {
    const { name, where, time, calls } = read(from);
    const key = `${where} ${name}`;
    let row = rows.get(key);
    if (!row) {
      rows.set(key, row = { name, where, before: 0, after: 0, callsBefore: 0,
        callsAfter: 0 });
    }
    row[isAfter ? "after" : "before"] += time;
    row[isAfter ? "callsAfter" : "callsBefore"] += calls;
  };
  for (const row of before) add(row, false);
  for (const row of after) add(row, true);
  return byChange([...rows.values()]);
}

/** @param {Row} row */
function changeOf({ before, after, callsBefore, callsAfter }) {
  if (callsBefore === 0) return "new";
  if (callsAfter === 0) return "gone";
  return after > before ? "slower" : after < before ? "faster" : "same";
}

/**
 * @param {string} id @param {string} caption @param {string} calls
 * @param {Row[]} rows
 */
function changeTable(id, caption, calls, rows) {
  if (rows.length === 0) return [];
  return [makeTable({ id, caption, rows, columns: [
    { title: "Name", kind: "text", value: (row) => row.name },
    { title: "Change", kind: "text", value: changeOf },
    { title: "Before", kind: "ns", value: (row) => row.before },
    { title: "After", kind: "ns", value: (row) => row.after },
    { title: "Difference", kind: "change",
      value: (row) => row.after - row.before },
    { title: `${calls} before`, kind: "count",
      value: (row) => row.callsBefore },
    { title: `${calls} after`, kind: "count", value: (row) => row.callsAfter },
    { title: "Where", kind: "text", value: (row) => row.where },
  ] })];
}

/** @param {number} before @param {number} after */
function percent(before, after) {
  if (before === after) return "the same";
  return before > 0 ? `${after > before ? "+" : "−"}${
    shareText(Math.abs(after - before), before)}` : "new";
}

/**
 * The greatest peak of one pool, by source: the heap, a device's allocator.
 * @param {any} summary
 */
function peaksBySource(summary) {
  /** @type {Map<string, number>} */
  const peaks = new Map();
  for (const { source, peak } of summary.memory?.pools || []) {
    if (!peak) continue;
    peaks.set(source, Math.max(peaks.get(source) ?? 0, peak.bytes));
  }
  return peaks;
}

/**
 * The numbers of both runs.
 * @param {any} before @param {any} after
 */
function factsOfBoth(before, after) {
  const peaks = [before, after].map(peaksBySource);
  const sources = [...peaks[1].keys()].sort();
  /** @param {any} summary @param {Map<string, number>} peakOf
   * @returns {[string, number | undefined, (value: number) => string][]} */
  const numbers = (summary, peakOf) => [
    ["Wall time", summary.window?.duration_ns, timeText],
    ["Sampled CPU time", summary.totals?.sampled_ns || undefined, timeText],
    ["Time in ranges", summary.totals?.cpu_top_level_ns || undefined,
      timeText],
    ["Device busy", summary.totals?.device_top_level_ns || undefined,
      timeText],
    ["Ranges", summary.totals?.ranges, countText],
    ["Samples", summary.totals?.samples, countText],
    .../** @type {[string, number | undefined, typeof bytesText][]} */ (
      sources.map((source) => [`Peak of ${source} memory`,
        peakOf.get(source), bytesText])),
  ];
  const earlier = numbers(before, peaks[0]);
  return element("dl", { class: "facts" }, ...numbers(after, peaks[1]).flatMap(
    ([name, now, text], i) => {
      const then = earlier[i][1];
      if (now === undefined || then === undefined) return [];
      return [element("div", { class: "fact" }, element("dt", {}, name),
        element("dd", { "data-value": now }, text(now)),
        element("p", { "data-value": then },
          `${text(then)} before, ${percent(then, now)}`))];
    }));
}

/** @param {Trace} before @param {Trace} after */
export function diffView(before, after) {
  const operations = joinedRows(before.summary.key_averages,
    after.summary.key_averages, (row) => ({ name: row.name,
      where: row.is_device ? "device" : "CPU", calls: row.count,
      time: row.self_cpu_time_total_ns +
        (row.self_device_time_total_ns || 0) }));
  const whole = (/** @type {Trace} */ trace) =>
    functionsWithin(trace, -Infinity, Infinity);
  const functions = joinedRows(whole(before), whole(after), (row) => ({
    name: row.name, where: row.module, time: row.self, calls: row.samples }));
  const sources = joinedSources(before, after);
  const commands = [before, after].map((trace) =>
    visible(commandOf(trace.summary)));
  return element("div", { class: "summary" },
    element("p", { class: "command" }, "Before: ",
      element("code", {}, commands[0] || "a trace")),
    element("p", { class: "command" }, "After: ",
      element("code", {}, commands[1] || "a trace")),
    factsOfBoth(before.summary, after.summary),
    ...(sources.length > 0 ? [element("section", { class: "table" },
      element("h2", {}, "Where it changed"), element("p", { class: "status" },
        "Width: the time after. Red takes more than before, blue less. A " +
        "graph of what was before also has what is gone."),
      graphView("diff-graph", sources))] : []),
    ...changeTable("changed-operations", "Operations: self time", "Calls",
      operations),
    ...changeTable("changed-functions", "Functions: self time", "Samples",
      functions));
}
