// memory.js - memory over time, and what the peak was made of.
import { Trace } from "./data.js";
import { visible } from "./format.js";
import { MemoryChart, memoryRows, peakBytesOf } from "./memory_chart.js";
import { makeTable } from "./table.js";
import { element } from "./view.js";

/**
 * What a click on a moment, or on a row of a table, does.
 * @typedef {{ openTime: (time: number) => void,
 *   openStack: (row: any) => void,
 *   openFunction: (row: any) => void }} MemoryActions
 */

const MOST_SECTIONS = 10;

/**
 * How many groups a list of summary.json had before it was cut.
 * @param {any[]} rows
 */
function groupsOf(rows) {
  return rows.reduce((sum, row) => sum + (row.others ?? 1), 0);
}

/**
 * What a pool of summary.json had at its peak.
 * @param {any} pool @param {number} at
 * @param {MemoryActions} actions
 */
function peakTables(pool, at, { openStack, openFunction }) {
  /** @param {(row: any) => string} name
   * @returns {import("./table.js").Column[]} */
  const columns = (name) => [
    { title: "Allocated by", kind: "text", value: name },
    { title: "At the peak", kind: "bytes", value: (row) => row.bytes },
    { title: "Of the peak", kind: "share",
      value: (row) => row.bytes / pool.peak.bytes },
    { title: "Blocks", kind: "count", value: (row) => row.count },
  ];
  /** @param {any} row */
  const others = (row) => row.others !== undefined
    ? `${row.others} others` : "";
  const tables = [makeTable({
    id: `peak-stacks-${at}`, caption: "The peak by stack",
    rows: pool.peak.by_stack, sortBy: 1, open: openStack,
    columns: columns((row) => others(row) || row.place ||
      (row.stack || [])[0] || "unknown"),
  })];
  // Files of earlier versions have none.
  const byFunction = pool.peak.by_function || [];
  if (byFunction.length > 0 &&
      groupsOf(byFunction) < groupsOf(pool.peak.by_stack)) {
    tables.unshift(makeTable({
      id: `peak-functions-${at}`, caption: "The peak by function",
      rows: byFunction, sortBy: 1, open: openFunction,
      columns: columns((row) => others(row) || row.function || "unknown"),
    }));
  }
  if (pool.peak.by_operation.some((/** @type {any} */ row) => row.operation)) {
    tables.unshift(makeTable({
      id: `peak-operations-${at}`, caption: "The peak by operation",
      rows: pool.peak.by_operation, sortBy: 1, columns: columns((row) =>
        others(row) || row.operation || "outside of operations"),
    }));
  }
  return element("div", { class: "pair" }, ...tables);
}

/**
 * @param {Trace} trace @param {MemoryActions} actions
 */
export function memoryView(trace, actions) {
  // Those that have a chart, in the same order.
  const pools = ((trace.summary.memory || {}).pools || []).filter(
    (/** @type {any} */ pool) => pool.peak && pool.peak.bytes !== 0);
  const largest = trace.memoryPools.map((pool, at) =>
    ({ pool, at, most: peakBytesOf(pool) }))
    .sort((a, b) => b.most - a.most).slice(0, MOST_SECTIONS);
  const sections = largest.map(({ pool, at }) => element("section",
    { class: "memory", id: `memory-${at}` },
    element("h2", {}, element("bdi", {}, visible(pool.title))),
    new MemoryChart(pool, trace.meta.span_ns, actions.openTime).element,
    memoryRows(`rows-${at}`, pool),
    ...(pools[at] ? [peakTables(pools[at], at, actions)] : [])));
  const rest = trace.memoryPools.length - sections.length;
  return element("div", {}, ...sections, ...(rest > 0 ? [
    element("p", { class: "note" },
      `${rest} with smaller peaks are in summary.json.`)] : []));
}
