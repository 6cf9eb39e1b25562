// waits.js - what threads waited for: tables, and sums by stack. The numbers of
// the tables are those of summary.json, or sums of them.
import { Trace } from "./data.js";
import { countText } from "./format.js";
import { makeTable } from "./table.js";
import { element } from "./view.js";

/** @typedef {import("./table.js").Column} Column */

/** @param {Uint32Array} first @param {number[]} second */
function joined(first, second) {
  const all = new Uint32Array(first.length + second.length);
  all.set(first);
  all.set(second, first.length);
  return all;
}

/**
 * Gives waits stacks that end with what the thread waited for: "[lock wait]".
 * @param {Trace} trace
 */
export function nameWaits(trace) {
  const stackCount = trace.stackParent.length;
  const frameCount = trace.frameFunction.length;
  /** @type {Map<string, number>} */
  const stacks = new Map();
  /** @type {number[]} */
  const parents = [];
  /** @type {number[]} */
  const leaves = [];
  /** @type {string[]} */
  const texts = [];
  /** @param {number} stack @param {string} kind @param {boolean} isIdle */
  const stackOf = (stack, kind, isIdle) => {
    const text = `[${kind} wait${isIdle ? ", idle" : ""}]`;
    const key = `${stack} ${text}`;
    let known = stacks.get(key);
    if (known !== undefined) return known;
    if (!texts.includes(text)) texts.push(text);
    known = stackCount + parents.length;
    stacks.set(key, known);
    parents.push(stack);
    leaves.push(frameCount + texts.indexOf(text));
    return known;
  };
  for (const wait of trace.waits) {
    wait.place = stackOf(wait.stack, wait.kind, wait.isIdle);
  }
  for (const sum of trace.waitSums) {
    sum.place = stackOf(sum.stack, sum.kind, sum.isIdle);
  }
  trace.firstWaitFrame = frameCount;
  const none = texts.map(() => 0);
  trace.stackParent = joined(trace.stackParent, parents);
  trace.stackFrame = joined(trace.stackFrame, leaves);
  trace.frameFunction = joined(trace.frameFunction,
    texts.map((text) => trace.strings.push(text) - 1));
  trace.frameFile = joined(trace.frameFile, none);
  trace.frameModule = joined(trace.frameModule, none);
  trace.frameLine = joined(trace.frameLine, none);
  trace.frameGroup = joined(trace.frameGroup,
    texts.map((_, i) => trace.groupFrame.length + i));
  trace.groupFrame = joined(trace.groupFrame,
    texts.map((_, i) => frameCount + i));
}

/**
 * Adds the waits from `from` until before `to` to the weights of stacks.
 * @param {Trace} trace @param {number} from @param {number} to
 * @param {{ weights: Float64Array, counts: Float64Array }} sums
 */
export function addWaits(trace, from, to, { weights, counts }) {
  if (from === -Infinity && to === Infinity) {
    for (const sum of trace.waitSums) {
      weights[sum.place] += sum.ns;
      counts[sum.place] += sum.count;
    }
    return;
  }
  for (const { start, length, place } of trace.waits) {
    const part = Math.min(start + length, to) - Math.max(start, from);
    if (part <= 0) continue;
    weights[place] += part;
    counts[place] += 1;
  }
}

/**
 * The sum of all numbers of an object.
 * @param {Record<string, number>} numbers
 */
export function sumOfValues(numbers) {
  return Object.values(numbers).reduce((sum, value) => sum + value, 0);
}

/**
 * The waits of one place for the same, whatever called it: summary.json has a
 * row for each stack. The stack with the longest time stands for all; `isSum`
 * says that there are several.
 * @param {any[]} rows those with the longest time first; so are the results
 */
function byPlace(rows) {
  /** @type {Map<string, any>} */
  const places = new Map();
  for (const row of rows) {
    const key = JSON.stringify([row.where, row.module, row.kind, row.is_idle]);
    const place = places.get(key);
    if (!place) {
      places.set(key, { ...row });
      continue;
    }
    place.isSum = true;
    place.wait_ns += row.wait_ns;
    place.count += row.count;
    place.longest_ns = Math.max(place.longest_ns, row.longest_ns);
  }
  return [...places.values()].sort((a, b) => b.wait_ns - a.wait_ns);
}

/**
 * Where threads waited.
 * @param {any} waits the member of summary.json
 * @param {{ id: string, open: (row: any) => void, isTop?: boolean }} options
 *   isTop: only the ten places with most time that are not idle
 */
export function placeTable(waits, { id, open, isTop = false }) {
  const places = byPlace(waits.places);
  const rows = isTop ? places.filter((row) => !row.is_idle) : places;
  /** @type {Column[]} */
  const columns = [
    { title: "Waited in", kind: "text", value: (row) => row.where },
    { title: "For", kind: "text", value: (row) => row.kind },
    { title: "Time", kind: "ns", value: (row) => row.wait_ns },
    { title: "Longest", kind: "ns", value: (row) => row.longest_ns },
    { title: "Waits", kind: "count", value: (row) => row.count },
  ];
  if (rows.some((row) => row.is_idle)) {
    columns.push({ title: "Idle", kind: "text", note: "waited for work",
      value: (row) => row.is_idle ? "yes" : "no" });
  }
  if (!isTop && rows.some((row) => row.module)) {
    columns.push({ title: "Module", kind: "text",
      value: (row) => row.module ?? "" });
  }
  const stacks = waits.places.length;
  const caption = waits.place_count > stacks
    ? `Where threads waited: sums of the ${countText(stacks)} stacks with the ` +
      `most time, of ${countText(waits.place_count)}`
    : "Where threads waited";
  return isTop
    ? makeTable({ id, caption, rows: rows.slice(0, 10), columns, open,
      of: rows.length })
    : makeTable({ id, caption, rows, columns, open, sortBy: 2 });
}

/** @param {any[]} rows */
function lockTable(rows) {
  if (rows.length === 0) return [];
  return [makeTable({
    id: "locks", caption: "Locks", rows, sortBy: 1, columns: [
      { title: "Lock", kind: "text", value: (row) => row.object },
      { title: "Waited for it", kind: "ns", value: (row) => row.wait_ns },
      { title: "Longest", kind: "ns", value: (row) => row.longest_ns },
      { title: "Waits", kind: "count", value: (row) => row.count },
      { title: "Process", kind: "text", value: (row) => row.pid ?? "several" },
    ],
  })];
}

/** @param {any[]} rows @param {(row: any) => void} open */
function rangeTable(rows, open) {
  if (rows.length === 0) return [];
  const kinds = [...new Set(rows.flatMap((row) =>
    Object.keys(row.blocked_ns)))].sort();
  return [makeTable({
    id: "wait-ranges", caption: "Ranges that waited", rows, open, sortBy: 3,
    columns: [
      { title: "Range", kind: "text", value: (row) => row.name },
      { title: "Total", kind: "ns", value: (row) => row.duration_ns },
      { title: "On a CPU", kind: "ns", value: (row) => row.cpu_ns },
      { title: "Waited", kind: "ns",
        value: (row) => row.duration_ns - row.cpu_ns },
      { title: "Runnable", kind: "ns", value: (row) => row.runnable_ns },
      .../** @type {Column[]} */ (kinds.map((kind) => ({ title: kind,
        kind: "ns", value: (/** @type {any} */ row) =>
          row.blocked_ns[kind] ?? null }))),
      { title: "Calls", kind: "count", value: (row) => row.count },
    ],
  })];
}

/**
 * @param {any} summary
 * @param {{ openRange: (row: any) => void, openPlace: (row: any) => void }}
 *   actions
 */
export function waitsView(summary, { openRange, openPlace }) {
  const { waits } = summary;
  return element("div", {},
    placeTable(waits, { id: "wait-places", open: openPlace }),
    ...lockTable(waits.locks), ...rangeTable(waits.ranges, openRange));
}
