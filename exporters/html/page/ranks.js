// ranks.js - the ranks of a job: what each did, and which was late. The numbers
// are those of summary.json.
import { countText } from "./format.js";
import { makeTable } from "./table.js";
import { element } from "./view.js";

/** @typedef {import("./table.js").Column} Column */

/**
 * The tables: the member of summary.json, and the column that sorts.
 * @type {{ key: string, caption: string, sortBy?: string }[]}
 */
const TABLES = [
  { key: "ranks", caption: "Ranks" },
  { key: "collectives", caption: "Collective calls: waiting until the last " +
    "rank entered", sortBy: "waiting_ns" },
  { key: "mpi_waits", caption: "Waits for requests: until the other rank had " +
    "begun to send or to receive", sortBy: "waiting_ns" },
  { key: "messages", caption: "Messages: who waited for a late sender, and " +
    "for a late receiver" },
  { key: "imbalance", caption: "Imbalance: ranges that took longer in one " +
    "rank", sortBy: "excess_ns" },
];

/**
 * What columns are called, as in the tables of the command.
 * @type {Record<string, string>}
 */
const TITLES = {
  mpi_share: "MPI %", other_mpi_ns: "Other MPI", calls: "# of Calls",
  sent_bytes: "Sent", clock_bound_ns: "Clock +-", comm: "Communicator",
  waiting_share: "Waiting %", late_ns: "Waited for it",
  late_operations: "Last in", late_calls: "In calls", from: "From rank",
  to: "To rank", most_rank: "In rank", least_rank: "In rank",
  excess_ns: "Most - mean", excess_share: "Of most",
  step_excess_ns: "By step", worst_step_rank: "In rank",
  worst_step_excess_ns: "There", comm_name: "Its name",
  missing_ranks: "Without ranks", ended_ns: "After",
};
const NAMES = ["rank", "name", "host", "process", "finalized", "partner",
  "from", "to", "comm_name", "missing_ranks", "ended"];

/** @param {string} name @returns {Column} */
function columnOf(name) {
  const words = name.replace(/_(ns|bytes|share)$/, "").replaceAll("_", " ");
  const kind = name.endsWith("_ns") ? "ns" : name.endsWith("_bytes") ||
    name === "bytes" ? "bytes" : name.endsWith("_share") ? "share"
    : NAMES.includes(name) ? "text" : "count";
  return { title: TITLES[name] || words[0].toUpperCase() + words.slice(1),
    kind, value: (row) => row[name] };
}

/**
 * The names of all members, in their order. Rows leave out what they do not
 * know.
 * @param {any[]} rows
 */
function membersOf(rows) {
  /** @type {string[]} */
  const names = [];
  for (const row of rows) {
    let at = 0;
    for (const name of Object.keys(row)) {
      const known = names.indexOf(name);
      if (known < 0) names.splice(at, 0, name);
      at = known < 0 ? at + 1 : known + 1;
    }
  }
  return names;
}

/**
 * The tables of a job's ranks.
 * @param {any} summary
 */
export function ranksView(summary) {
  const shown = TABLES.filter(({ key }) => summary[key]?.length);
  return element("div", {}, ...shown.map(({ key, caption, sortBy }) => {
    const names = membersOf(summary[key]);
    const order = sortBy ? names.indexOf(sortBy) : -1;
    return makeTable({ id: `ranks-${key}`, caption, rows: summary[key],
      columns: names.map(columnOf), sortBy: order < 0 ? undefined : order });
  }));
}

/**
 * Of a job that kept some of its ranks' traces: the averages of all ranks.
 * @param {any} job
 */
export function jobView(job) {
  /** @param {string} title @param {(row: any) => number} value
   *  @returns {import("./table.js").Column} */
  const time = (title, value) => ({ title, kind: "ns", value });
  /** @param {string} title @param {(row: any) => number} value
   *  @returns {import("./table.js").Column} */
  const count = (title, value) => ({ title, kind: "count", value });
  return element("div", {}, makeTable({
    id: "job-operations", caption: `Averages of ${
      countText(job.ranks.length)} ${
      job.ranks.length === 1 ? "rank" : "ranks"}`, rows: job.averages, sortBy: 1,
    columns: [
      { title: "Operation", kind: "text", value: (row) => row.name },
      time("Total", (row) => row.totals_of_ranks.sum_ns),
      time("Mean of ranks", (row) => row.totals_of_ranks.count > 0
        ? row.totals_of_ranks.sum_ns / row.totals_of_ranks.count : 0),
      time("Deviation", (row) => row.totals_of_ranks.deviation_ns),
      time("Most", (row) => row.totals_of_ranks.most_ns),
      count("In rank", (row) => row.totals_of_ranks.most_rank),
      time("Least", (row) => row.totals_of_ranks.least_ns),
      count("In rank", (row) => row.totals_of_ranks.least_rank),
      count("Ranks", (row) => row.totals_of_ranks.count),
      count("Calls", (row) => row.calls.count),
      time("Longest call", (row) => row.calls.most_ns),
      count("In rank", (row) => row.calls.most_rank),
    ],
  }), makeTable({
    id: "job-ranks", caption: "Ranks", rows: job.ranks, sortBy: 1, columns: [
      { title: "Rank", kind: "text", value: (row) => row.rank },
      { title: "Outside of MPI", kind: "ns", value: (row) => row.work_ns,
        note: "of its main thread" },
    ],
  }));
}
