// memory.js - memory over time, and what the peak was made of.
import { Trace } from "./data.js";
import { visible } from "./format.js";
import { MemoryChart, memoryRows } from "./memory_chart.js";
import { makeTable } from "./table.js";
import { element } from "./view.js";

const MOST_SECTIONS = 10;

/**
 * What a pool of summary.json had at its peak.
 * @param {any} pool @param {number} at
 * @param {(row: any, pool: any) => void} openStack
 */
function peakTables(pool, at, openStack) {
  if (!pool.peak || pool.peak.bytes === 0) return [];
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
    rows: pool.peak.by_stack, sortBy: 1, open: (row) => openStack(row, pool),
    columns: columns((row) => others(row) || row.place ||
      (row.stack || [])[0] || "unknown"),
  })];
  if (pool.peak.by_operation.some((/** @type {any} */ row) => row.operation)) {
    tables.unshift(makeTable({
      id: `peak-operations-${at}`, caption: "The peak by operation",
      rows: pool.peak.by_operation, sortBy: 1, columns: columns((row) =>
        others(row) || row.operation || "outside of operations"),
    }));
  }
  return [element("div", { class: "pair" }, ...tables)];
}

/**
 * @param {Trace} trace
 * @param {{ openTime: (time: number) => void,
 *   openStack: (row: any, pool: any) => void }} actions
 */
export function memoryView(trace, { openTime, openStack }) {
  const pools = (trace.summary.memory || {}).pools || [];
  // In the order of the pools.
  const tables = pools.flatMap(
    (/** @type {any} */ pool, /** @type {number} */ at) =>
      peakTables(pool, at, openStack));
  const sections = trace.memoryPools.map((pool, at) => {
    const chart = new MemoryChart(pool, trace.meta.span_ns, openTime);
    return { most: chart.peakBytes, section: element("section",
      { class: "memory", id: `memory-${at}` },
      element("h2", {}, element("bdi", {}, visible(pool.title))),
      chart.element, memoryRows(`rows-${at}`, pool),
      ...(tables[at] ? [tables[at]] : [])) };
  }).sort((a, b) => b.most - a.most);
  const rest = sections.length - MOST_SECTIONS;
  return element("div", {}, ...sections.slice(0, MOST_SECTIONS).map((one) =>
    one.section), ...(rest > 0 ? [element("p", { class: "note" },
    `${rest} with smaller peaks are in summary.json.`)] : []));
}
