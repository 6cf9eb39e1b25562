// data.js - the trace of the page. The headers event_blocks.h, lane_blocks.h
// and used_tables.h say what its blocks hold.
import { Reader } from "./blocks.js";

/**
 * @typedef {{
 *   is_stream: boolean, pid: number, id: number, device: number, name: string,
 *   events: number, samples: number
 * }} Track
 * @typedef {{
 *   span_ns: number, sampling_period_ns: number,
 *   events: number, events_left_out: number, least_ns: number,
 *   details_left_out: number, samples_left_out: number, waits_left_out: number,
 *   types: string[], tracks: Track[]
 * }} Meta
 * @typedef {{ track: number, name: number, times: Float64Array,
 *   values: Float64Array }} Curve
 * @typedef {{ title: string, stacks: Uint32Array, bytes: Float64Array,
 *   blocks: Float64Array }} MemoryGraph
 */

export const FLAG_INSTANT = 1;
export const FLAG_OPEN = 2;
export const FLAG_ASYNC = 4;

/** The trace that the page shows. Times are ns since its earliest. */
export class Trace {
  constructor() {
    /** @type {any} the object of summary.json */
    this.summary = {};
    /** @type {Meta} */
    this.meta = /** @type {any} */ ({});
    /** @type {string[]} */
    this.strings = [];
    // By name: the name under which sums count it. Steps count as one.
    this.sumNames = new Uint32Array(0);
    // Frames and stacks; stack 0 has no frame.
    this.frameFunction = new Uint32Array(0);
    this.frameFile = new Uint32Array(0);
    this.frameModule = new Uint32Array(0);
    this.frameLine = new Uint32Array(0);
    this.frameFlags = new Uint8Array(0);
    this.hasPython = false;  // any of them is a function of Python
    // From this frame on, frames say what a wait was for.
    this.firstWaitFrame = Infinity;
    // Frames of one function have one number.
    this.frameGroup = new Uint32Array(0);
    this.groupFrame = new Uint32Array(0);
    this.stackParent = new Uint32Array(1);
    this.stackFrame = new Uint32Array(1);
    // Paths; path 0 is the top.
    this.pathParent = new Uint32Array(1);
    this.pathName = new Uint32Array(1);
    this.pathType = new Uint8Array(1);
    this.pathFlags = new Uint8Array(1);
    this.pathDepth = new Uint32Array(1);
    // Events: those of track t are [trackBegin[t], trackBegin[t + 1]).
    this.starts = new Float64Array(0);
    this.lengths = new Float64Array(0);
    this.paths = new Uint32Array(0);
    this.trackBegin = new Uint32Array(1);
    // Samples, the same.
    this.sampleTimes = new Float64Array(0);
    this.sampleStacks = new Uint32Array(0);
    this.sampleWeights = new Float64Array(0);
    this.sampleBegin = new Uint32Array(1);
    /** @type {Curve[]} */
    this.curves = [];
    /** @type {{ track: number, kind: string, start: number, length: number,
     *    runnable: number, stack: number, waker: number, holder: number,
     *    object: string, isOpen: boolean, isIdle: boolean, place: number }[]}
     *    place: the stack and what the thread waited for, as a stack */
    this.waits = [];
    /** @type {{ stack: number, kind: string, isIdle: boolean, ns: number,
     *    count: number, place: number }[]} all waits, short ones too */
    this.waitSums = [];
    this.flows = new Uint32Array(0); // from, to, kind; from, to, kind; ...
    // Flows by event; made when they are first needed.
    this.flowBegin = new Uint32Array(0);
    this.flowAt = new Uint32Array(0);
    /** @type {MemoryGraph[]} */
    this.memory = [];
    /** @type {import("./memory_chart.js").MemoryPool[]} */
    this.memoryPools = [];
    // Where an event's details are.
    this.details = new Reader(new Uint8Array(0));
    /** @type {Map<number, number>} */
    this.detailAt = new Map();
  }

  /** @param {number} event */
  nameOf(event) {
    return this.strings[this.pathName[this.paths[event]]];
  }

  /**
   * Where the flows of an event are in `flows`.
   * @param {number} event
   */
  flowsOf(event) {
    if (this.flowBegin.length === 0) this.indexFlows();
    return this.flowAt.subarray(this.flowBegin[event],
      this.flowBegin[event + 1]);
  }

  indexFlows() {
    const { flows } = this;
    const next = new Uint32Array(this.starts.length + 1);
    for (let i = 0; i < flows.length; i += 3) {
      ++next[flows[i] + 1];
      ++next[flows[i + 1] + 1];
    }
    for (let i = 1; i < next.length; ++i) next[i] += next[i - 1];
    this.flowBegin = next.slice();
    this.flowAt = new Uint32Array(flows.length / 3 * 2);
    for (let i = 0; i < flows.length; i += 3) {
      this.flowAt[next[flows[i]]++] = i;
      this.flowAt[next[flows[i + 1]]++] = i;
    }
  }

  /** @param {number} event */
  trackOf(event) {
    let low = 0;
    let high = this.meta.tracks.length;
    while (high - low > 1) {
      const middle = (low + high) >> 1;
      if (this.trackBegin[middle] <= event) low = middle; else high = middle;
    }
    return low;
  }

  /** @param {number} frame */
  functionOf(frame) {
    return this.strings[this.frameFunction[frame]];
  }

  /**
   * Whether it is a function of Python: its module is its file.
   * @param {number} frame
   */
  isPython(frame) {
    const module = this.frameModule[frame];
    return module === this.frameFile[frame] && this.strings[module] !== "";
  }
}

/**
 * What an event has besides its times; null if nothing is there.
 * @param {Trace} trace @param {number} event
 */
export function detailsOf(trace, event) {
  const at = trace.detailAt.get(event);
  if (at === undefined) return null;
  const r = trace.details;
  r.at = at;
  const details = {
    correlation: r.exactUnsigned(),
    sequence: r.exactUnsigned() - BigInt(1),
    overload: trace.strings[r.unsigned()],
    inputs: trace.strings[r.unsigned()],
    stack: r.unsigned(),
    calls: r.unsigned(),
    /** @type {[string, string][]} */
    args: [],
  };
  for (let left = r.unsigned(); left > 0; --left) {
    const key = trace.strings[r.unsigned()];
    const type = r.unsigned();
    details.args.push([key, type === 0 ? String(r.exactSigned())
      : type === 1 ? String(r.double()) : trace.strings[r.unsigned()]]);
  }
  return details;
}

/**
 * The frames of a stack, innermost first.
 * @param {Trace} trace
 * @param {number} stack
 */
export function framesOf(trace, stack) {
  const frames = [];
  for (; stack !== 0; stack = trace.stackParent[stack]) {
    frames.push(trace.stackFrame[stack]);
  }
  return frames;
}
