// details.js - everything that is known of one event.
import { FLAG_ASYNC, FLAG_OPEN, Trace, detailsOf, framesOf } from "./data.js";
import { baseName, countText, timeText, visible } from "./format.js";
import { trackLabel } from "./rows.js";
import { button, element } from "./view.js";

const MOST_LINKS = 50;

/** @param {string} name @param {string | Node} value */
function line(name, value) {
  return [element("dt", {}, name), element("dd", {}, element("bdi", {}, value))];
}

/**
 * A stack, innermost frame first.
 * @param {Trace} trace
 * @param {number} stack
 */
export function stackList(trace, stack) {
  return element("ol", { class: "stack" }, ...framesOf(trace, stack).map(
    (frame) => {
      const file = trace.strings[trace.frameFile[frame]];
      const place = file ? `${baseName(file)}:${trace.frameLine[frame]}`
        : baseName(trace.strings[trace.frameModule[frame]]);
      return element("li", { title: visible(file) },
        element("bdi", {}, visible(trace.functionOf(frame))),
        element("span", {}, element("bdi", {}, visible(place))));
    }));
}

/**
 * The events that this one caused or that caused it.
 * @param {Trace} trace
 * @param {number} event
 * @param {(event: number) => void} open
 */
function links(trace, event, open) {
  const found = [];
  const words = [["launched", "launched by"], ["backward", "forward"]];
  const flows = trace.flowsOf(event);
  for (const i of flows.subarray(0, MOST_LINKS)) {
    const [from, to, kind] = trace.flows.subarray(i, i + 3);
    const other = from === event ? to : from;
    found.push(line(words[kind][from === event ? 0 : 1],
      button(visible(trace.nameOf(other)), "Go to this event",
        () => open(other))));
  }
  if (flows.length > MOST_LINKS) {
    found.push(line("In all", `${countText(flows.length)} such events`));
  }
  return found.flat();
}

/** @param {Trace} trace @param {number} event
 * @param {(event: number) => void} open */
export function eventDetails(trace, event, open) {
  const path = trace.paths[event];
  const flags = trace.pathFlags[path];
  const rows = [
    line("Duration", timeText(trace.lengths[event])),
    line("Start", `${countText(trace.starts[event])} ns`),
    line("Category", trace.meta.types[trace.pathType[path]]),
    line("On", visible(trackLabel(trace, trace.trackOf(event)))),
  ];
  if (flags & FLAG_OPEN) {
    rows.push(line("Note", "had not ended when the recording ended"));
  }
  if (flags & FLAG_ASYNC) {
    rows.push(line("Note", "ended elsewhere than it began"));
  }
  const parents = [];
  for (let up = trace.pathParent[path]; up !== 0; up = trace.pathParent[up]) {
    parents.unshift(visible(trace.strings[trace.pathName[up]]));
  }
  if (parents.length > 0) rows.push(line("Within", parents.join(" › ")));
  const more = detailsOf(trace, event);
  if (more) {
    if (more.overload) rows.push(line("Overload", visible(more.overload)));
    if (more.inputs) rows.push(line("Input sizes", visible(more.inputs)));
    if (more.calls > 1) rows.push(line("Calls", countText(more.calls)));
    if (more.correlation > 0) {
      rows.push(line("Correlation", String(more.correlation)));
    }
    if (more.sequence >= 0) {
      rows.push(line("Sequence number", String(more.sequence)));
    }
    for (const [key, value] of more.args) {
      rows.push(line(visible(key), visible(value)));
    }
  }
  return element("div", { class: "details" },
    element("h2", {}, element("bdi", {}, visible(trace.nameOf(event)))),
    element("dl", {}, ...rows.flat(), ...links(trace, event, open)),
    ...(more && more.stack ? [stackList(trace, more.stack)] : []));
}

/** @param {Trace} trace @param {number} index */
export function waitDetails(trace, index) {
  const wait = trace.waits[index];
  const rows = [
    line("Waited", timeText(wait.length)),
    line("Start", `${countText(wait.start)} ns`),
    line("On", visible(trackLabel(trace, wait.track))),
  ];
  if (wait.runnable >= 0) rows.push(line("Runnable", timeText(wait.runnable)));
  if (wait.object) rows.push(line("For", visible(wait.object)));
  if (wait.holder >= 0) {
    rows.push(line("Held by", visible(trackLabel(trace, wait.holder))));
  }
  if (wait.waker >= 0) {
    rows.push(line("Woken by", visible(trackLabel(trace, wait.waker))));
  }
  if (wait.isIdle) rows.push(line("Note", "waited for work (idle)"));
  if (wait.isOpen) {
    rows.push(line("Note", "went on when the recording ended"));
  }
  return element("div", { class: "details" },
    element("h2", {}, `Wait: ${wait.kind}`),
    element("dl", {}, ...rows.flat()),
    ...(wait.stack ? [stackList(trace, wait.stack)] : []));
}

/** @param {Trace} trace @param {number} stack @param {number} start
 * @param {number} length */
export function sliceDetails(trace, stack, start, length) {
  const frame = trace.stackFrame[stack];
  return element("div", { class: "details" },
    element("h2", {}, element("bdi", {}, visible(trace.functionOf(frame)))),
    element("dl", {}, ...line("Sampled for", timeText(length)),
      ...line("Start", `${countText(start)} ns`)),
    stackList(trace, stack));
}
