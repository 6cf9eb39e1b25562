// summary.js - the first screen, and the tables of the whole run. Its numbers
// are those of summary.json.
import { Trace } from "./data.js";
import { findingsSection } from "./findings.js";
import { bytesText, countText, timeText, visible } from "./format.js";
import { element } from "./view.js";
import { makeTable } from "./table.js";
import { placeTable, sumOfValues } from "./waits.js";

const MOST_POOLS = 3;  // whose peaks the first screen has

/** @typedef {import("./findings.js").Finding} Finding */
/** @typedef {import("./findings.js").Evidence} Evidence */

/** @param {any[]} rows @param {string} key */
function sumOf(rows, key) {
  return rows.reduce((sum, row) => sum + (row[key] || 0), 0);
}

/**
 * What the run executed.
 * @param {any} summary
 */
export function commandOf(summary) {
  const processes = summary.processes || [];
  const command = (summary.metadata || {}).kymo_command;
  if (typeof command === "string" && command) return command;
  return processes.length > 0
    ? processes[0].command_line || processes[0].name : "";
}

/**
 * One number with its name; `value` is the number of summary.json.
 * @param {string} name @param {string} text @param {number | null} value
 * @param {string} note
 */
function fact(name, text, value = null, note = "") {
  return element("div", { class: "fact" }, element("dt", {}, name),
    element("dd", value === null ? {} : { "data-value": value },
      element("bdi", {}, text)),
    ...(note ? [element("p", {}, note)] : []));
}

/**
 * CPU time of all threads, and where it is known from.
 * @param {any} summary
 */
function cpuTime(summary) {
  const threads = summary.threads || [];
  if (threads.some((/** @type {any} */ t) => t.on_cpu_ns !== undefined)) {
    return { ns: sumOf(threads, "on_cpu_ns"), note: "from the kernel" };
  }
  const totals = summary.totals || {};
  return totals.sampled_ns > 0
    ? { ns: totals.sampled_ns, note: "from samples" } : null;
}

/** @param {any} summary */
function facts(summary) {
  const window = summary.window;
  const totals = summary.totals || {};
  const threads = summary.threads || [];
  const list = [];
  const wall = window ? window.duration_ns : 0;
  if (window) list.push(fact("Wall time", timeText(wall), wall));
  const cpu = cpuTime(summary);
  if (cpu) {
    list.push(fact("CPU time", timeText(cpu.ns), cpu.ns, cpu.note));
    if (wall > 0) {
      list.push(fact("CPUs used", (cpu.ns / wall).toFixed(2), cpu.ns / wall,
        "on average"));
    }
  }
  const limit = summary.cpu_limit;
  if (limit) {
    list.push(fact("CPU limit", `${+limit.cpus.toFixed(3)} CPUs`, limit.cpus,
      "of the container (cgroup); it stopped threads in " +
      `${countText(limit.throttled_periods)} of ${
        countText(limit.periods)} periods`));
  }
  if (window) {
    list.push(fact("Threads", countText(threads.length), threads.length,
      `${countText(summary.processes.length)} ${
        summary.processes.length === 1 ? "process" : "processes"}`));
    list.push(fact("Ranges", countText(totals.ranges), totals.ranges));
    list.push(fact("Samples", countText(totals.samples), totals.samples));
  }
  const pools = ((summary.memory || {}).pools || [])
    .filter((/** @type {any} */ pool) => pool.peak)
    .sort((/** @type {any} */ a, /** @type {any} */ b) =>
      b.peak.bytes - a.peak.bytes);
  for (const pool of pools.slice(0, MOST_POOLS)) {
    list.push(fact(`Peak of ${pool.source} memory`,
      bytesText(pool.peak.bytes), pool.peak.bytes,
      `process ${pool.pid}, ${pool.device}`));
  }
  if (summary.waits) {
    const blocked = sumOfValues(summary.waits.blocked_ns);
    list.push(fact("Blocked", timeText(blocked), blocked,
      `and idle for ${timeText(summary.waits.idle_ns)}`));
  }
  const streams = summary.streams || [];
  if (streams.length > 0) {
    list.push(fact("Device busy", timeText(totals.device_top_level_ns),
      totals.device_top_level_ns,
      streams.length === 1 ? "one stream"
        : `${countText(streams.length)} streams, added up`));
  }
  const losses = summary.ledger.filter((/** @type {any} */ row) =>
    row.is_loss && row.count > 0);
  list.push(fact("Lost", losses.length === 0 ? "nothing"
    : "some data", losses.length,
  losses.length === 0 ? "" : "see below"));
  return element("dl", { class: "facts" }, ...list);
}

/**
 * What this page does not show.
 * @param {Trace} trace
 */
function omissions(trace) {
  const { meta } = trace;
  const notes = [];
  if (meta.events_left_out > 0) {
    notes.push(`The timeline shows ${countText(meta.events)} of ${
      countText(meta.events + meta.events_left_out)} ranges and marks: all ` +
      `of ${timeText(meta.least_ns)} and more, and some of about that. The ` +
      "tables of the whole run count all of them; those of a selection count " +
      "what the timeline shows.");
  }
  if (meta.details_left_out > 0) {
    notes.push(`${countText(meta.details_left_out)} ranges are shown without ` +
      "their arguments and stacks.");
  }
  if (meta.samples_left_out > 0) {
    notes.push(`${countText(meta.samples_left_out)} samples are not in the ` +
      "timeline and the flame graphs, whose sums are smaller by them.");
  }
  if (meta.waits_left_out > 0) {
    notes.push(`${countText(meta.waits_left_out)} waits are not shown.`);
  }
  if (trace.summary.job) {
    notes.push(`The job has ${countText(trace.summary.job.ranks.length)} ` +
      "ranks. The tables of All ranks are of all of them; all else on this " +
      "page is of the ranks whose traces were kept.");
  }
  if (!trace.summary.window) {
    notes.push(trace.starts.length > 0
      ? "The recording was long: the tables of the whole run have all of " +
        "it, the timeline and its graphs have the newest part."
      : "The recording is larger than memory, so the page has no timeline " +
        "of its ranges.");
  }
  return notes.map((note) => element("p", { class: "note" }, note));
}

/** @param {any} summary */
function lossTable(summary) {
  const rows = summary.ledger.filter((/** @type {any} */ row) => row.count > 0);
  if (rows.length === 0) return [];
  return [makeTable({
    id: "losses", caption: "What the recording lacks", rows, columns: [
      { title: "What", kind: "text", value: (row) => row.meaning },
      { title: "Count", kind: "count", value: (row) => row.count },
      { title: "Is lost", kind: "text",
        value: (row) => row.is_loss ? "yes" : "no" },
    ],
  })];
}

/** @param {any} summary */
function threadTable(summary) {
  const rows = summary.threads || [];
  if (rows.length === 0) return [];
  /** @type {import("./table.js").Column[]} */
  const columns = [
    { title: "Thread", kind: "text", value: (row) => row.name || "thread" },
    { title: "Process", kind: "text", value: (row) => row.pid },
    { title: "Id", kind: "text", value: (row) => row.tid },
    { title: "In ranges", kind: "ns", value: (row) => row.top_level_ns },
    { title: "Ranges", kind: "count", value: (row) => row.ranges },
    { title: "Sampled", kind: "ns", value: (row) => row.sampled_ns },
    { title: "Samples", kind: "count", value: (row) => row.samples },
  ];
  if (rows.some((/** @type {any} */ row) => row.on_cpu_ns !== undefined)) {
    columns.push(
      { title: "On a CPU", kind: "ns", value: (row) => row.on_cpu_ns },
      { title: "Runnable", kind: "ns", value: (row) => row.runnable_ns },
      { title: "Blocked", kind: "ns", value: (row) => row.blocked_ns });
  }
  return [makeTable({ id: "threads", caption: "Threads", rows, columns })];
}

/** @param {any} summary */
function streamTable(summary) {
  const rows = summary.streams || [];
  if (rows.length === 0) return [];
  const wall = summary.window.duration_ns;
  return [makeTable({
    id: "streams", caption: "Device streams", rows, columns: [
      { title: "Stream", kind: "text", value: (row) =>
        row.name || `stream ${row.stream}` },
      { title: "Device", kind: "text", value: (row) => row.device },
      { title: "Busy", kind: "ns", value: (row) => row.top_level_ns },
      { title: "Of wall time", kind: "share", value: (row) =>
        wall > 0 ? row.top_level_ns / wall : null },
      { title: "Activities", kind: "count", value: (row) => row.ranges },
    ],
  })];
}

/** @param {any} summary */
function counterTable(summary) {
  const rows = summary.counters || [];
  if (rows.length === 0) return [];
  /** @param {string} title @param {string} key
   *  @returns {import("./table.js").Column} */
  const number = (title, key) => ({ title, kind: "count",
    value: (row) => typeof row[key] === "number" ? row[key] : null });
  return [makeTable({
    id: "counter-values", caption: "Counters", rows, columns: [
      { title: "Counter", kind: "text", value: (row) => row.name },
      number("Values", "samples"), number("Least", "min"),
      number("Mean", "mean"), number("Greatest", "max"),
      number("Last", "last"),
    ],
  })];
}

/** @param {any} summary */
function metadataTable(summary) {
  const rows = Object.entries(summary.metadata || {});
  if (rows.length === 0) return [];
  return [makeTable({
    id: "metadata", caption: "Metadata", rows, columns: [
      { title: "Key", kind: "text", value: (row) => row[0] },
      { title: "Value", kind: "text", value: (row) =>
        typeof row[1] === "string" ? row[1] : JSON.stringify(row[1]) },
    ],
  })];
}

/**
 * Operations by name, of the whole run.
 * @param {any} summary @param {string} id
 * @param {((row: any) => void) | undefined} open
 * @param {number | undefined} of how many rows there are, if not all are here
 */
export function operationTable(summary, id, open, of = undefined) {
  const rows = summary.key_averages;
  const hasDevice = rows.some((/** @type {any} */ row) => row.is_device);
  const hasMemory = rows.some((/** @type {any} */ row) =>
    row.self_cpu_memory_usage_bytes);
  /** @type {import("./table.js").Column[]} */
  const columns = [
    { title: "Operation", kind: "text", value: (row) => row.is_async
      ? `${row.name} (asynchronous)` : row.name },
    { title: "Self CPU", kind: "ns",
      note: "without the ranges inside of it",
      value: (row) => row.self_cpu_time_total_ns },
    { title: "Total CPU", kind: "ns", value: (row) => row.cpu_time_total_ns },
    { title: "Calls", kind: "count", value: (row) => row.count },
    { title: "Shortest", kind: "ns", value: (row) => row.min_ns },
    { title: "Longest", kind: "ns", value: (row) => row.max_ns },
  ];
  if (hasDevice) {
    columns.splice(3, 0,
      { title: "Self device", kind: "ns",
        value: (row) => row.self_device_time_total_ns },
      { title: "Total device", kind: "ns",
        value: (row) => row.device_time_total_ns });
  }
  if (hasMemory) {
    columns.push({ title: "Self memory", kind: "bytes",
      value: (row) => row.self_cpu_memory_usage_bytes });
  }
  const all = summary.key_average_count || 0;
  const caption = of === undefined && all > rows.length
    ? `Operations (the first ${rows.length} of ${countText(all)})`
    : "Operations";
  return makeTable({ id, caption, rows, columns, open, of,
    sortBy: of === undefined ? 1 : undefined });
}

/**
 * Functions that samples found, of the whole run.
 * @param {any} summary @param {string} id
 * @param {((row: any) => void) | undefined} open
 * @param {number | undefined} of how many rows there are, if not all are here
 */
export function functionTable(summary, id, open, of = undefined) {
  const rows = summary.sampled_functions || [];
  const all = summary.sampled_function_count || 0;
  return makeTable({
    id, open, rows, of, sortBy: of === undefined ? 1 : undefined,
    caption: all > rows.length
      ? `Functions (the first ${rows.length} of ${countText(all)})`
      : "Functions",
    columns: [
      { title: "Function", kind: "text", value: (row) => row.name },
      { title: "Self", kind: "ns", value: (row) => row.self_cpu_time_ns },
      { title: "Total", kind: "ns", value: (row) => row.cpu_time_ns },
      { title: "Self samples", kind: "count",
        value: (row) => row.self_samples },
      { title: "Samples", kind: "count", value: (row) => row.samples },
      { title: "Module", kind: "text", value: (row) => row.module },
    ],
  });
}

/**
 * The rows with the greatest weights, in their order.
 * @param {any[]} rows @param {(row: any) => number} weight
 */
function hottest(rows, weight) {
  return rows.slice().sort((a, b) => weight(b) - weight(a)).slice(0, 10);
}

/**
 * @param {Trace} trace
 * @param {{ openOperation: (row: any) => void,
 *   openFunction: (row: any) => void, openPlace: (row: any) => void,
 *   openEvidence: (finding: Finding, evidence: Evidence) => void }} actions
 */
export function summaryView(trace, actions) {
  const { summary } = trace;
  const top = [];
  if (summary.key_averages.length > 0) {
    top.push(operationTable({
      key_averages: hottest(summary.key_averages, (row) =>
        row.self_cpu_time_total_ns + (row.self_device_time_total_ns || 0)),
    }, "top-operations", actions.openOperation,
    summary.key_average_count || summary.key_averages.length));
  }
  if ((summary.sampled_functions || []).length > 0) {
    top.push(functionTable({
      sampled_functions: hottest(summary.sampled_functions,
        (row) => row.self_cpu_time_ns),
    }, "top-functions", actions.openFunction, Math.max(
      summary.sampled_functions.length, summary.sampled_function_count || 0)));
  }
  const { waits } = summary;
  if (waits) {
    top.push(placeTable(waits, { id: "top-waits", open: actions.openPlace,
      isTop: true }));
  }
  return element("div", { class: "summary" },
    element("p", { class: "command" },
      element("code", {}, visible(commandOf(summary)))),
    facts(summary), ...omissions(trace),
    ...findingsSection(trace, actions.openEvidence),
    element("div", { class: "pair" }, ...top),
    ...lossTable(summary), ...threadTable(summary), ...streamTable(summary),
    ...counterTable(summary), ...metadataTable(summary));
}
