// rows.js - the lines of the timeline: what stands where.
import { FLAG_ASYNC, Trace } from "./data.js";

/**
 * One line. `starts` are ascending; items of one line do not overlap.
 * @typedef {{
 *   kind: "ranges" | "samples" | "waits" | "counter" | "title",
 *   track: number, label: string, top: number, height: number,
 *   items: Uint32Array, depth: number, curve: number
 * }} Line
 */

export const LINE_HEIGHT = 18;
const TITLE_HEIGHT = 22;
const COUNTER_HEIGHT = 34;
// Deeper ranges and samples have no line of their own.
const MOST_LINES = 96;
const MOST_ASYNC_LINES = 24;

/** The samples of one track as nested slices, like the ranges of a call tree. */
export class Slices {
  constructor() {
    /** @type {number[]} */
    this.starts = [];
    /** @type {number[]} */
    this.ends = [];
    /** @type {number[]} */
    this.frames = [];
    /** @type {number[]} */
    this.stacks = [];
    /** @type {number[][]} by depth */
    this.byDepth = [];
  }
}

/** @param {Trace} trace @param {number} stack */
function chainOf(trace, stack) {
  const chain = [];
  for (; stack !== 0; stack = trace.stackParent[stack]) chain.push(stack);
  return chain.reverse();
}

/**
 * Samples that follow one another share the slices of the frames that they
 * share. A gap of more than 1.5 periods ends all slices. For a sample that
 * stands for two periods or more, that time is the period.
 * @param {Trace} trace @param {number} track
 */
export function slicesOf(trace, track) {
  const slices = new Slices();
  const period = trace.meta.sampling_period_ns || 1e6;
  /** @type {number[]} the open slices, by depth */
  let open = [];
  let last = -Infinity;
  let length = period;
  const closeFrom = (/** @type {number} */ depth, /** @type {number} */ end) => {
    for (const slice of open.splice(depth)) slices.ends[slice] = end;
  };
  for (let i = trace.sampleBegin[track]; i < trace.sampleBegin[track + 1];
    ++i) {
    const time = trace.sampleTimes[i];
    if (time - last > 1.5 * length) closeFrom(0, last + length);
    const chain = chainOf(trace, trace.sampleStacks[i]).slice(0, MOST_LINES);
    let same = 0;
    while (same < chain.length && same < open.length &&
        trace.frameGroup[trace.stackFrame[chain[same]]] ===
        trace.frameGroup[slices.frames[open[same]]]) {
      ++same;
    }
    closeFrom(same, Math.min(time, last + length));
    for (let depth = same; depth < chain.length; ++depth) {
      const slice = slices.starts.length;
      slices.starts.push(time);
      slices.ends.push(time);
      slices.frames.push(trace.stackFrame[chain[depth]]);
      slices.stacks.push(chain[depth]);
      if (!slices.byDepth[depth]) slices.byDepth[depth] = [];
      slices.byDepth[depth].push(slice);
      open.push(slice);
    }
    last = time;
    const weight = trace.sampleWeights[i];
    length = weight < 2 * period ? period : weight;
  }
  closeFrom(0, last + length);
  return slices;
}

/** The events of a track by line: nested ones by depth, then asynchronous ones.
 * @param {Trace} trace @param {number} track */
function eventLines(trace, track) {
  /** @type {number[][]} */
  const nested = [];
  /** @type {number[][]} */
  const asynchronous = [];
  /** @type {number[]} */
  const ends = [];
  for (let i = trace.trackBegin[track]; i < trace.trackBegin[track + 1]; ++i) {
    const path = trace.paths[i];
    if (trace.pathFlags[path] & FLAG_ASYNC) {
      let line = ends.findIndex((end) => end <= trace.starts[i]);
      if (line < 0) line = Math.min(ends.length, MOST_ASYNC_LINES - 1);
      ends[line] = trace.starts[i] + trace.lengths[i];
      (asynchronous[line] = asynchronous[line] || []).push(i);
      continue;
    }
    const depth = Math.min(trace.pathDepth[path], MOST_LINES) - 1;
    while (nested.length <= depth) nested.push([]);
    nested[depth].push(i);
  }
  return nested.concat(asynchronous).filter((line) => line.length > 0)
    .map((line) => Uint32Array.from(line));
}

/** @param {Trace} trace @param {number} index */
export function trackLabel(trace, index) {
  const track = trace.meta.tracks[index];
  if (track.is_stream) {
    return `GPU ${track.device} stream ${track.id}` +
      (track.name ? ` ${track.name}` : "");
  }
  return `${track.name || "thread"} ${track.id}`;
}

/** The lines of all tracks; tracks in `closed` show their title alone. */
export class Lines {
  /** @param {Trace} trace */
  constructor(trace) {
    this.trace = trace;
    /** @type {Set<number>} */
    this.closed = new Set();
    /** @type {Map<number, Slices>} */
    this.slices = new Map();
    /** @type {Map<number, Uint32Array[]>} */
    this.events = new Map();
    /** @type {Map<number, number[]>} */
    this.curves = new Map();
    /** @type {Map<number, number[]>} */
    this.waits = new Map();
    trace.curves.forEach((curve, i) => this.addTo(this.curves, curve.track, i));
    trace.waits.forEach((wait, i) => this.addTo(this.waits, wait.track, i));
    // Many threads: only the busiest are open at first.
    trace.meta.tracks.map((_, i) => i)
      .sort((a, b) => this.size(b) - this.size(a))
      .slice(24).forEach((track) => this.closed.add(track));
    this.order = this.tracksInOrder();
    /** @type {Line[]} */
    this.lines = [];
    this.height = 0;
    this.place();
  }

  /** @param {Map<number, number[]>} lists @param {number} track
   * @param {number} item */
  addTo(lists, track, item) {
    const list = lists.get(track);
    if (list) list.push(item); else lists.set(track, [item]);
  }

  /** @param {number} track */
  toggle(track) {
    if (!this.closed.delete(track)) this.closed.add(track);
    this.place();
  }

  /** How much there is to show, besides waits.
   * @param {number} track */
  size(track) {
    const { events, samples } = this.trace.meta.tracks[track];
    return events + 4 * samples;
  }

  /** @param {number} track */
  onlyWaits(track) {
    return this.size(track) === 0 && !this.curves.has(track);
  }

  /** The tracks that are not empty. Last come processes with no counters and
   * less than 1 % of what the busiest one has, and in a process threads that
   * only wait: most processes of a machine do next to nothing. */
  tracksInOrder() {
    const { tracks } = this.trace.meta;
    /** @type {Map<number, number>} by process */
    const sizes = new Map();
    let most = 0;
    tracks.forEach(({ pid }, i) => {
      sizes.set(pid, (sizes.get(pid) || 0) + this.size(i));
      most = Math.max(most, sizes.get(pid) || 0);
    });
    const counting = new Set([...this.curves.keys()].map((i) => tracks[i].pid));
    const isQuiet = (/** @type {number} */ track) => {
      const { pid } = tracks[track];
      return (sizes.get(pid) || 0) < most / 100 && !counting.has(pid);
    };
    return tracks.map((_, i) => i)
      .filter((track) => !this.onlyWaits(track) || this.waits.has(track))
      .sort((a, b) => Number(isQuiet(a)) - Number(isQuiet(b)) ||
        tracks[a].pid - tracks[b].pid ||
        Number(this.onlyWaits(a)) - Number(this.onlyWaits(b)) || a - b);
  }

  place() {
    const { tracks } = this.trace.meta;
    this.lines = [];
    this.height = 0;
    let pid = NaN;
    const names = new Map((this.trace.summary.processes || []).map(
      (/** @type {any} */ process) => [process.pid, process.name]));
    for (const t of this.order) {
      if (tracks[t].pid !== pid) {
        pid = tracks[t].pid;
        this.add("title", -1, `${names.get(pid) || "process"} ${pid}`,
          TITLE_HEIGHT);
      }
      this.add("title", t, trackLabel(this.trace, t), TITLE_HEIGHT);
      if (!this.closed.has(t)) this.openTrack(t);
      this.height += 4;
    }
  }

  /** @param {number} track */
  openTrack(track) {
    for (const curve of this.curves.get(track) || []) {
      this.add("counter", track,
        this.trace.strings[this.trace.curves[curve].name], COUNTER_HEIGHT)
        .curve = curve;
    }
    const waits = this.waits.get(track);
    if (waits) {
      this.add("waits", track, "waits", LINE_HEIGHT).items =
        Uint32Array.from(waits);
    }
    let events = this.events.get(track);
    if (!events) {
      this.events.set(track, events = eventLines(this.trace, track));
    }
    for (const items of events) {
      this.add("ranges", track, "", LINE_HEIGHT).items = items;
    }
    if (this.trace.meta.tracks[track].samples === 0) return;
    let slices = this.slices.get(track);
    if (!slices) {
      this.slices.set(track, slices = slicesOf(this.trace, track));
    }
    slices.byDepth.forEach((items, depth) => {
      const line = this.add("samples", track, depth === 0 ? "samples" : "",
        LINE_HEIGHT);
      line.items = Uint32Array.from(items);
      line.depth = depth;
    });
  }

  /** @param {Line["kind"]} kind @param {number} track @param {string} label
   * @param {number} height @returns {Line} */
  add(kind, track, label, height) {
    const line = { kind, track, label, top: this.height, height, depth: 0,
      items: new Uint32Array(0), curve: -1 };
    this.lines.push(line);
    this.height += height;
    return line;
  }

  /**
   * The number of the first line that ends below `y`.
   * @param {number} y
   */
  firstBelow(y) {
    let low = 0;
    let high = this.lines.length;
    while (low < high) {
      const middle = (low + high) >> 1;
      const line = this.lines[middle];
      if (line.top + line.height <= y) low = middle + 1; else high = middle;
    }
    return low;
  }

  /**
   * When an item of a line begins and ends.
   * @param {Line} line
   * @param {number} item
   * @returns {[number, number]}
   */
  times(line, item) {
    const { trace } = this;
    if (line.kind === "samples") {
      const slices = /** @type {Slices} */ (this.slices.get(line.track));
      return [slices.starts[item], slices.ends[item]];
    }
    if (line.kind === "waits") {
      const wait = trace.waits[item];
      return [wait.start, wait.start + wait.length];
    }
    return [trace.starts[item], trace.starts[item] + trace.lengths[item]];
  }

  /** @param {Line} line @param {number} item */
  name(line, item) {
    const { trace } = this;
    if (line.kind === "samples") {
      const slices = /** @type {Slices} */ (this.slices.get(line.track));
      return trace.functionOf(slices.frames[item]);
    }
    return line.kind === "waits" ? trace.waits[item].kind : trace.nameOf(item);
  }

  /**
   * When an item of a line begins.
   * @param {Line} line
   * @param {number} item
   */
  start(line, item) {
    if (line.kind === "ranges") return this.trace.starts[item];
    return this.times(line, item)[0];
  }

  /**
   * The position of an item in `line.items`, which ascend; -1 if it is not there.
   * @param {Line} line
   * @param {number} item
   */
  positionOf({ items }, item) {
    let low = 0;
    let high = items.length;
    while (low < high) {
      const middle = (low + high) >> 1;
      if (items[middle] < item) low = middle + 1; else high = middle;
    }
    return items[low] === item ? low : -1;
  }

  /**
   * The position in `line.items` of the first item from `time` on, looked for
   * from `from` on. Cheap if it is near.
   * @param {Line} line
   * @param {number} time
   */
  firstAt(line, time, from = 0) {
    const { items } = line;
    let low = from;
    let step = from === 0 ? items.length : 4;
    while (low + step < items.length &&
        this.start(line, items[low + step]) < time) {
      low += step;
      step *= 4;
    }
    let high = Math.min(low + step, items.length);
    while (low < high) {
      const middle = (low + high) >> 1;
      if (this.start(line, items[middle]) < time) low = middle + 1;
      else high = middle;
    }
    return low;
  }
}
