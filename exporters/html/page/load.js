// load.js - reads the blocks of the page. The headers event_blocks.h,
// lane_blocks.h and used_tables.h say what they hold.
import { Reader, readBlocks } from "./blocks.js";
import { Trace } from "./data.js";
import { nameWaits } from "./waits.js";

/** @param {Reader} r @param {Trace} trace */
function readFrames(r, trace) {
  const count = r.unsigned();
  for (const key of ["frameFunction", "frameFile", "frameModule", "frameLine",
    "frameGroup"]) {
    /** @type {any} */ (trace)[key] = new Uint32Array(count);
  }
  trace.frameFlags = new Uint8Array(count);
  /** @type {Map<number, number>} */
  const groups = new Map();
  const groupFrame = [];
  for (let i = 0; i < count; ++i) {
    trace.frameFunction[i] = r.unsigned();
    trace.frameFile[i] = r.unsigned();
    trace.frameModule[i] = r.unsigned();
    trace.frameLine[i] = r.unsigned();
    trace.frameFlags[i] = r.unsigned();
    trace.hasPython ||= trace.isPython(i);
    const key = trace.frameFunction[i] * 2 ** 26 + trace.frameModule[i];
    let group = groups.get(key);
    if (group === undefined) {
      group = groupFrame.length;
      groups.set(key, group);
      groupFrame.push(i);
    }
    trace.frameGroup[i] = group;
  }
  trace.groupFrame = Uint32Array.from(groupFrame);
}

/** @param {Reader} r @param {Trace} trace */
function readStacks(r, trace) {
  const count = r.unsigned() + 1;
  trace.stackParent = new Uint32Array(count);
  trace.stackFrame = new Uint32Array(count);
  for (let i = 1; i < count; ++i) {
    trace.stackParent[i] = i - r.unsigned();
    trace.stackFrame[i] = r.unsigned();
  }
}

/** @param {Reader} r @param {Trace} trace */
function readPaths(r, trace) {
  const count = r.unsigned() + 1;
  trace.pathParent = new Uint32Array(count);
  trace.pathName = new Uint32Array(count);
  trace.pathType = new Uint8Array(count);
  trace.pathFlags = new Uint8Array(count);
  trace.pathDepth = new Uint32Array(count);
  for (let i = 1; i < count; ++i) {
    trace.pathParent[i] = i - r.unsigned();
    trace.pathName[i] = r.unsigned();
    trace.pathType[i] = r.unsigned();
    trace.pathFlags[i] = r.unsigned();
    trace.pathDepth[i] = trace.pathDepth[trace.pathParent[i]] + 1;
  }
}

/** @param {Record<string, Reader>} blocks @param {Trace} trace */
function readEvents(blocks, trace) {
  const { tracks, events } = trace.meta;
  trace.starts = new Float64Array(events);
  trace.lengths = new Float64Array(events);
  trace.paths = new Uint32Array(events);
  trace.trackBegin = new Uint32Array(tracks.length + 1);
  for (let t = 0, i = 0; t < tracks.length; ++t) {
    trace.trackBegin[t + 1] = trace.trackBegin[t] + tracks[t].events;
    for (let start = 0; i < trace.trackBegin[t + 1]; ++i) {
      start += blocks.starts.unsigned();
      trace.starts[i] = start;
      trace.lengths[i] = blocks.lengths.unsigned();
      trace.paths[i] = blocks.pathids.unsigned();
    }
  }
}

/** @param {Reader} r @param {Trace} trace */
function readSamples(r, trace) {
  const tracks = trace.meta.tracks;
  trace.sampleBegin = new Uint32Array(tracks.length + 1);
  for (let t = 0; t < tracks.length; ++t) {
    trace.sampleBegin[t + 1] = trace.sampleBegin[t] + tracks[t].samples;
  }
  const count = trace.sampleBegin[tracks.length];
  trace.sampleTimes = new Float64Array(count);
  trace.sampleStacks = new Uint32Array(count);
  trace.sampleWeights = new Float64Array(count);
  for (let t = 0, i = 0; t < tracks.length; ++t) {
    for (let time = 0; i < trace.sampleBegin[t + 1]; ++i) {
      time += r.unsigned();
      trace.sampleTimes[i] = time;
      trace.sampleStacks[i] = r.unsigned();
      trace.sampleWeights[i] = r.signed();
    }
  }
}

/** @param {Reader} r @param {Trace} trace */
function readCounters(r, trace) {
  for (let left = r.unsigned(); left > 0; --left) {
    const track = r.unsigned();
    const name = r.unsigned();
    const count = r.unsigned();
    const times = new Float64Array(count);
    const values = new Float64Array(count);
    for (let i = 0, time = 0; i < count; ++i) {
      time += r.unsigned();
      times[i] = time;
      values[i] = r.double();
    }
    trace.curves.push({ track, name, times, values });
  }
}

/** @param {Reader} r @param {Trace} trace */
function readWaits(r, trace) {
  for (let left = r.unsigned(); left > 0; --left) {
    const wait = {
      track: r.unsigned(),
      kind: trace.strings[r.unsigned()],
      start: r.unsigned(),
      length: r.unsigned(),
      runnable: r.signed(),
      stack: r.unsigned(),
      waker: r.unsigned() - 1,
      holder: r.unsigned() - 1,
      object: trace.strings[r.unsigned()],
      place: 0,
    };
    const flags = r.unsigned();
    trace.waits.push({ ...wait, isOpen: (flags & 1) !== 0,
      isIdle: (flags & 2) !== 0 });
  }
}

/** @param {Reader} r @param {Trace} trace */
function readWaitSums(r, trace) {
  for (let left = r.unsigned(); left > 0; --left) {
    trace.waitSums.push({
      stack: r.unsigned(),
      kind: trace.strings[r.unsigned()],
      isIdle: r.unsigned() === 1,
      ns: r.unsigned(),
      count: r.unsigned(),
      place: 0,
    });
  }
}

/** @param {Reader} r @param {Trace} trace */
function readMemory(r, trace) {
  for (let left = r.unsigned(); left > 0; --left) {
    const title = trace.strings[r.unsigned()];
    const count = r.unsigned();
    const graph = {
      title,
      stacks: new Uint32Array(count),
      bytes: new Float64Array(count),
      blocks: new Float64Array(count),
    };
    for (let i = 0; i < count; ++i) {
      graph.stacks[i] = r.unsigned();
      graph.bytes[i] = r.signed();
      graph.blocks[i] = r.unsigned();
    }
    trace.memory.push(graph);
  }
}

/** @param {Reader} r @param {Trace} trace */
function readMemoryPools(r, trace) {
  for (let left = r.unsigned(); left > 0; --left) {
    const title = trace.strings[r.unsigned()];
    const hasOperations = r.unsigned() === 1;
    const names = Array.from({ length: r.unsigned() }, () =>
      trace.strings[r.unsigned()]);
    const times = new Float64Array(r.unsigned());
    const bytes = Array.from({ length: names.length + 1 }, () =>
      new Float64Array(times.length));
    for (let row = 0, time = 0; row < times.length; ++row) {
      time += r.unsigned();
      times[row] = time;
      for (const layer of bytes) layer[row] = r.signed();
    }
    trace.memoryPools.push({ title, hasOperations, names, times, bytes });
  }
}

/**
 * Skips one event's arguments.
 * @param {Reader} r
 */
function skipArguments(r) {
  for (let left = r.unsigned(); left > 0; --left) {
    r.unsigned();
    if (r.unsigned() === 1) r.at += 8; else r.unsigned();
  }
}

/** @param {Reader} r @param {Trace} trace */
function indexDetails(r, trace) {
  trace.details = r;
  let event = 0;
  for (let left = r.unsigned(); left > 0; --left) {
    event += r.unsigned();
    trace.detailAt.set(event, r.at);
    for (let field = 0; field < 6; ++field) r.unsigned();
    skipArguments(r);
  }
}

/**
 * Gives all steps one name for sums, as the tables of the whole run do.
 * @param {Trace} trace
 */
function nameSums(trace) {
  trace.sumNames = Uint32Array.from(trace.strings, (_, i) => i);
  const all = trace.strings.length;
  trace.strings.forEach((name, i) => {
    if (/^ProfilerStep#\d+$/.test(name)) trace.sumNames[i] = all;
  });
  trace.strings.push("ProfilerStep*");
}

/**
 * The trace whose blocks stand in an element.
 * @param {Element} data @returns {Promise<Trace>}
 */
export async function loadTrace(data) {
  const blocks = await readBlocks(data, ["summary", "meta", "strings",
    "frames", "stacks", "paths", "starts", "lengths", "pathids", "details",
    "flows", "samples", "counters", "waits", "waitsums", "memory", "layers"]);
  const json = new TextDecoder();
  const trace = new Trace();
  trace.summary = JSON.parse(json.decode(blocks.summary.bytes));
  trace.meta = JSON.parse(json.decode(blocks.meta.bytes));
  for (let left = blocks.strings.unsigned(); left > 0; --left) {
    trace.strings.push(blocks.strings.text());
  }
  nameSums(trace);
  readFrames(blocks.frames, trace);
  readStacks(blocks.stacks, trace);
  readPaths(blocks.paths, trace);
  readEvents(blocks, trace);
  readSamples(blocks.samples, trace);
  readCounters(blocks.counters, trace);
  readWaits(blocks.waits, trace);
  readWaitSums(blocks.waitsums, trace);
  nameWaits(trace);
  readMemory(blocks.memory, trace);
  readMemoryPools(blocks.layers, trace);
  indexDetails(blocks.details, trace);
  const flows = blocks.flows;
  trace.flows = new Uint32Array(3 * flows.unsigned());
  for (let i = 0; i < trace.flows.length; ++i) trace.flows[i] = flows.unsigned();
  return trace;
}
