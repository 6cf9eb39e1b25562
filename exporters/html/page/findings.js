// findings.js - what the analysis of the run found, and where to see it.
import { Trace } from "./data.js";
import { bytesText, shareText, timeText, visible } from "./format.js";
import { element } from "./view.js";

/**
 * As in summary.json. Times are since the page's first moment; frames begin
 * with the outermost.
 * @typedef {{ kind: string, name?: string, table?: string, track?: number,
 *   begin_ns?: number, duration_ns?: number, frames?: string[] }} Evidence
 * @typedef {{ id: string, title: string, next_step?: string,
 *   time_ns?: number, bytes?: number, share?: number,
 *   evidence?: Evidence }} Finding
 */

/**
 * The track of a thread or a stream; -1 if the trace has none.
 * @param {Trace} trace @param {Evidence} evidence
 */
export function trackOfEvidence(trace, { track = -1 }) {
  return track < trace.meta.tracks.length ? track : -1;
}

/**
 * The event that is meant; -1 if the page does not have it.
 * @param {Trace} trace @param {Evidence} evidence
 */
export function eventOfEvidence(trace, evidence) {
  const track = trackOfEvidence(trace, evidence);
  if (track < 0) return -1;
  const { name, begin_ns: begin = 0, duration_ns: duration = 0 } = evidence;
  const { starts, lengths, trackBegin } = trace;
  const end = trackBegin[track + 1];
  let low = trackBegin[track];
  let high = end;
  while (low < high) {
    const middle = (low + high) >> 1;
    if (starts[middle] < begin) low = middle + 1;
    else high = middle;
  }
  for (; low < end && starts[low] === begin; ++low) {
    if (lengths[low] === duration && trace.nameOf(low) === name) return low;
  }
  return -1;
}

/**
 * The view, the id and the row of the table on the page that has it.
 * @param {Trace} trace @param {Evidence} evidence
 */
export function placeOfRow(trace, evidence) {
  const { name, table = "counters" } = evidence;
  const { summary } = trace;
  const { pid, id: tid } = trace.meta.tracks[trackOfEvidence(trace, evidence)]
    || { pid: -1, id: -1 };
  /** @param {any} row */
  const isNamed = (row) => row.name === name;
  /** @param {any} row */
  const isOfThread = (row) => row.pid === pid && row.tid === tid;
  /** @type {Record<string, [string, string, any[], (row: any) => boolean]>} */
  const tables = {
    key_averages: ["operations", "operations", summary.key_averages,
      (row) => isNamed(row) && !row.is_device],
    device_kernels: ["operations", "operations", summary.key_averages,
      (row) => isNamed(row) && row.is_device],
    sampled_functions: ["functions", "functions", summary.sampled_functions,
      isNamed],
    threads: ["summary", "threads", summary.threads, isOfThread],
    counters: ["summary", "counter-values", summary.counters,
      (row) => isNamed(row) && isOfThread(row)],
    ledger: ["summary", "losses", summary.ledger, isNamed],
    collectives: ["ranks", "ranks-collectives", summary.collectives, isNamed],
    mpi_waits: ["ranks", "ranks-mpi_waits", summary.mpi_waits, isNamed],
    ranks: ["ranks", "ranks-ranks", summary.ranks,
      (row) => String(row.rank) === name],
  };
  if (!tables[table]) return undefined;
  const [view, id, rows, isMeant] = tables[table];
  const row = (rows || []).find(isMeant);
  return row && { view, id, row };
}

/**
 * Where the page shows it; nothing if it does not.
 * @param {Trace} trace @param {Evidence} evidence
 */
function placeOf(trace, evidence) {
  const { kind, duration_ns: duration } = evidence;
  if (kind === "stack") return "flame graph";
  if (kind === "row" || kind === "counter") {
    return placeOfRow(trace, evidence) ? "table" : "";
  }
  return duration ? timeText(duration) : "timeline";
}

/** @param {Evidence} evidence */
function evidenceText({ name, frames = [] }) {
  return visible(name || frames.join(" › ") || "the interval");
}

/**
 * The number that a finding is about, and its share.
 * @param {Finding} finding
 */
function stakeOf({ time_ns: time, bytes, share }) {
  const value = time !== undefined ? time : bytes;
  const text = value === undefined ? "" : time !== undefined
    ? timeText(value) : bytesText(value);
  const whole = time !== undefined ? "of the run"
    : bytes !== undefined ? "of the peak" : "of the data";
  // The time of several threads together may be longer than the run.
  const part = share === undefined ? ""
    : share > 1 ? `${share.toFixed(1)} times the run`
    : `${shareText(share, 1)} ${whole}`;
  return element("p", { class: "stake" },
    ...(text ? [element("b", { "data-value": value }, text)] : []),
    ...(part ? [element("span", { "data-value": share }, part)] : []));
}

/**
 * @param {Trace} trace @param {Finding} finding
 * @param {(finding: Finding, evidence: Evidence) => void} open
 */
function evidenceLine(trace, finding, open) {
  const { evidence } = finding;
  if (!evidence) return [];
  const text = element("bdi", {}, evidenceText(evidence));
  const place = placeOf(trace, evidence);
  return [element("p", { class: "evidence" }, ...(place === "" ? [text] : [
    element("button", { type: "button", class: "link",
      click: () => open(finding, evidence) }, text),
    element("span", {}, place)]))];
}

/**
 * @param {Trace} trace @param {Finding} finding
 * @param {(finding: Finding, evidence: Evidence) => void} open
 */
function findingItem(trace, finding, open) {
  return element("li", { "data-id": finding.id }, stakeOf(finding),
    element("div", {},
      element("h3", {}, element("bdi", {}, visible(finding.title))),
      ...(finding.next_step ? [element("p", {},
        element("bdi", {}, visible(finding.next_step)))] : []),
      ...evidenceLine(trace, finding, open)));
}

/**
 * Nothing if there are none.
 * @param {Trace} trace
 * @param {(finding: Finding, evidence: Evidence) => void} open
 */
export function findingsSection(trace, open) {
  /** @type {Finding[]} */
  const findings = trace.summary.findings || [];
  if (findings.length === 0) return [];
  return [element("section", { class: "findings", id: "findings",
    "aria-labelledby": "findings-title" },
  element("h2", { id: "findings-title" }, "Findings"),
  element("ol", {}, ...findings.map((one) =>
    findingItem(trace, one, open))))];
}
