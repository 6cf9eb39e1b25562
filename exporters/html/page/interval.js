// interval.js - sums over a part of the time: by path, name and stack.
import { FLAG_ASYNC, FLAG_INSTANT, Trace } from "./data.js";

/**
 * @typedef {{ name: string, isDevice: boolean, count: number, self: number,
 *   total: number }} OperationRow
 */

/**
 * The time of each path from `from` until before `to`, and the number of its
 * events that are there.
 * @param {Trace} trace @param {number} from @param {number} to
 */
export function pathSums(trace, from, to) {
  const total = new Float64Array(trace.pathParent.length);
  const count = new Float64Array(trace.pathParent.length);
  const deviceSelf = new Float64Array(trace.pathParent.length);
  const { starts, lengths, paths, trackBegin, meta } = trace;
  for (let t = 0; t < meta.tracks.length; ++t) {
    const onDevice = meta.tracks[t].is_stream;
    for (let i = trackBegin[t]; i < trackBegin[t + 1]; ++i) {
      const begin = starts[i];
      if (begin >= to) break;
      const end = begin + lengths[i];
      if (begin < from && end <= from) continue;
      const path = paths[i];
      const part = Math.min(end, to) - Math.max(begin, from);
      total[path] += part;
      count[path] += 1;
      if (onDevice) deviceSelf[path] += part;
    }
  }
  const self = total.slice();
  for (let p = 1; p < self.length; ++p) {
    const parent = trace.pathParent[p];
    if (parent !== 0 && !(trace.pathFlags[p] & FLAG_INSTANT)) {
      self[parent] -= total[p];
    }
  }
  return { total, self, count, isDevice: deviceSelf };
}

/**
 * Operations by name, as the table of the whole run has them.
 * @param {Trace} trace @param {number} from @param {number} to
 */
export function operationsWithin(trace, from, to) {
  const sums = pathSums(trace, from, to);
  /** @type {Map<string, OperationRow>} */
  const rows = new Map();
  for (let p = 1; p < sums.count.length; ++p) {
    if (sums.count[p] === 0 || trace.pathFlags[p] & FLAG_INSTANT) continue;
    const isDevice = sums.isDevice[p] > 0;
    const name = trace.sumNames[trace.pathName[p]];
    const key = `${isDevice ? 1 : 0} ${name}`;
    let row = rows.get(key);
    if (!row) {
      row = { name: trace.strings[name], isDevice, count: 0,
        self: 0, total: 0 };
      rows.set(key, row);
    }
    row.count += sums.count[p];
    row.total += sums.total[p];
    row.self += sums.self[p];
  }
  return [...rows.values()];
}

/**
 * Weights and counts of stacks that have none yet.
 * @param {Trace} trace
 */
export function noSums(trace) {
  return { weights: new Float64Array(trace.stackParent.length),
    counts: new Float64Array(trace.stackParent.length) };
}

/**
 * The weight of each stack's samples from `from` until before `to`.
 * @param {Trace} trace @param {number} from @param {number} to
 */
export function stackSums(trace, from, to) {
  const { weights, counts } = noSums(trace);
  const { sampleTimes, sampleStacks, sampleWeights } = trace;
  for (let i = 0; i < sampleTimes.length; ++i) {
    if (sampleTimes[i] < from || sampleTimes[i] >= to) continue;
    weights[sampleStacks[i]] += sampleWeights[i];
    counts[sampleStacks[i]] += 1;
  }
  return { weights, counts };
}

/**
 * Functions of the samples from `from` until before `to`. A recursive function counts once
 * for each sample.
 * @param {Trace} trace @param {number} from @param {number} to
 */
export function functionsWithin(trace, from, to) {
  const { weights, counts } = stackSums(trace, from, to);
  const rows = Array.from(trace.groupFrame, (frame) => ({
    name: trace.functionOf(frame),
    module: trace.strings[trace.frameModule[frame]],
    self: 0, total: 0, samples: 0, selfSamples: 0,
  }));
  const seen = new Uint32Array(rows.length);
  for (let stack = 1; stack < weights.length; ++stack) {
    if (counts[stack] === 0) continue;
    const leaf = rows[trace.frameGroup[trace.stackFrame[stack]]];
    leaf.self += weights[stack];
    leaf.selfSamples += counts[stack];
    for (let at = stack; at !== 0; at = trace.stackParent[at]) {
      const group = trace.frameGroup[trace.stackFrame[at]];
      if (seen[group] === stack) continue;
      seen[group] = stack;
      rows[group].total += weights[stack];
      rows[group].samples += counts[stack];
    }
  }
  return rows.filter((row) => row.samples > 0);
}

/**
 * One node of a flame graph.
 * @typedef {{ name: string, note: string, self: number, total: number,
 *   count: number, children: FlameNode[], parent: FlameNode | null,
 *   other?: number }} FlameNode other: the total of the trace that this one is
 *   compared with
 */

/** @param {string} name @param {string} note @param {FlameNode | null} parent
 * @returns {FlameNode} */
export function flameNode(name, note, parent) {
  return { name, note, self: 0, total: 0, count: 0, children: [], parent };
}

/**
 * How many callers a graph that begins with callees has of each: as many as a
 * browser lays out within a second.
 * @param {number} count of callees
 */
function mostLevels(count) {
  return Math.max(64, Math.min(1000, Math.floor(500000 / Math.max(count, 1))));
}

/**
 * Stacks of Python's functions, and of what these waited for: the weight of a
 * stack is that of its innermost such frame. What has none is at stack 0.
 * @param {Trace} trace @param {Float64Array} weights
 * @param {Float64Array} counts
 */
function inPython(trace, weights, counts) {
  const stacks = trace.stackParent.length;
  const innermost = new Uint32Array(stacks);
  const parents = new Uint32Array(stacks);
  const sums = noSums(trace);
  for (let stack = 0; stack < stacks; ++stack) {
    // A parent comes before its callees.
    parents[stack] = innermost[trace.stackParent[stack]];
    const frame = trace.stackFrame[stack];
    innermost[stack] = stack !== 0 &&
      (trace.isPython(frame) || frame >= trace.firstWaitFrame)
      ? stack : parents[stack];
    sums.weights[innermost[stack]] += weights[stack];
    sums.counts[innermost[stack]] += counts[stack];
  }
  return { ...sums, parents };
}

/**
 * Makes a tree of stacks that have weights; frames of one function are one
 * node. Inverted: callees first.
 * @param {Trace} trace
 * @param {{ weights: Float64Array, counts: Float64Array }} sums
 * @param {boolean} inverted
 * @param {boolean} onlyPython functions of Python only
 */
export function stackTree(trace, sums, inverted, onlyPython = false) {
  const { weights, counts, parents } = onlyPython
    ? inPython(trace, sums.weights, sums.counts)
    : { ...sums, parents: trace.stackParent };
  const root = flameNode("all", "", null);
  /** @type {Map<FlameNode, Map<number, FlameNode>>} */
  const known = new Map();
  /** @param {FlameNode} parent @param {number} frame */
  const below = (parent, frame) => {
    let children = known.get(parent);
    if (!children) known.set(parent, children = new Map());
    const group = trace.frameGroup[frame];
    let child = children.get(group);
    if (!child) {
      const file = trace.strings[trace.frameFile[frame]];
      child = flameNode(trace.functionOf(frame), file
        ? `${file}:${trace.frameLine[frame]}`
        : trace.strings[trace.frameModule[frame]], parent);
      children.set(group, child);
      parent.children.push(child);
    }
    return child;
  };
  /** @type {(FlameNode | undefined)[]} */
  const nodes = new Array(parents.length);
  const most = mostLevels(counts.reduce((sum, count) =>
    sum + (count > 0 ? 1 : 0), 0));
  nodes[0] = root;
  for (let stack = 0; stack < weights.length; ++stack) {
    if (counts[stack] === 0) continue;
    let node = root;
    if (inverted) {
      let level = 0;
      for (let at = stack; at !== 0; at = parents[at]) {
        if (++level > most) {
          root.note = `the first ${most} levels around each`;
          break;
        }
        node = below(node, trace.stackFrame[at]);
        node.total += weights[stack];
        node.count += counts[stack];
      }
      node.self += weights[stack];
      root.total += weights[stack];
      root.count += counts[stack];
      continue;
    }
    const chain = [];
    let at = stack;
    while (!nodes[at]) {
      chain.push(at);
      at = parents[at];
    }
    node = /** @type {FlameNode} */ (nodes[at]);
    while (chain.length > 0) {
      at = /** @type {number} */ (chain.pop());
      node = nodes[at] = below(node, trace.stackFrame[at]);
    }
    node.self += weights[stack];
    for (let up = /** @type {FlameNode | null} */ (node); up; up = up.parent) {
      up.total += weights[stack];
      up.count += counts[stack];
    }
  }
  return root;
}

/**
 * The heaviest node at which these frames follow one another, from either end;
 * null if there is none.
 * @param {FlameNode} root @param {string[]} frames
 */
export function nodeOfFrames(root, frames) {
  /** @type {FlameNode | null} */
  let best = null;
  /** @param {FlameNode} node @param {string[]} names */
  const ends = (node, names) => {
    let up = /** @type {FlameNode | null} */ (node);
    for (const name of names) {
      // Frames may have a place: "a.cc(7): main".
      if (!up || up === root ||
          (name !== up.name && !name.endsWith(`: ${up.name}`))) return false;
      up = up.parent;
    }
    return true;
  };
  const inwards = frames.slice().reverse();
  const open = frames.length > 0 ? root.children.slice() : [];
  while (open.length > 0) {
    const node = /** @type {FlameNode} */ (open.pop());
    if ((!best || node.total > best.total) &&
        (ends(node, frames) || ends(node, inwards))) {
      best = node;
    }
    for (const child of node.children) open.push(child);
  }
  return best;
}

/**
 * Makes a tree of ranges by their self times.
 * @param {Trace} trace @param {number} from @param {number} to
 * @param {boolean} inverted
 */
export function rangeTree(trace, from, to, inverted) {
  const { self, count } = pathSums(trace, from, to);
  const root = flameNode("all", "", null);
  /** @type {Map<FlameNode, Map<number, FlameNode>>} */
  const known = new Map();
  /** @param {FlameNode} parent @param {number} path */
  const below = (parent, path) => {
    let children = known.get(parent);
    if (!children) known.set(parent, children = new Map());
    const name = trace.sumNames[trace.pathName[path]];
    let child = children.get(name);
    if (!child) {
      child = flameNode(trace.strings[name],
        trace.meta.types[trace.pathType[path]], parent);
      children.set(name, child);
      parent.children.push(child);
    }
    return child;
  };
  /** @param {number} path */
  const isShown = (path) => count[path] > 0 &&
    !(trace.pathFlags[path] & (FLAG_INSTANT | FLAG_ASYNC));
  if (!inverted) {
    const nodes = [root];
    for (let p = 1; p < self.length; ++p) {
      if (isShown(p)) nodes[p] = below(nodes[trace.pathParent[p]] || root, p);
    }
    for (let p = 1; p < self.length; ++p) {
      if (!isShown(p)) continue;
      nodes[p].self += Math.max(self[p], 0);
      nodes[p].count += count[p];
      root.count += count[p];
    }
    addTotals(root);
    return root;
  }
  let shown = 0;
  for (let p = 1; p < self.length; ++p) if (isShown(p)) ++shown;
  const most = mostLevels(shown);
  for (let p = 1; p < self.length; ++p) {
    if (!isShown(p)) continue;
    const weight = Math.max(self[p], 0);
    let node = root;
    root.total += weight;
    root.count += count[p];
    let level = 0;
    for (let at = p; at !== 0; at = trace.pathParent[at]) {
      if (++level > most) {
        root.note = `the first ${most} levels around each`;
        break;
      }
      node = below(node, at);
      node.total += weight;
      node.count += count[p];
    }
    node.self += weight;
  }
  return root;
}

/**
 * Sets each total to the sum of the self times below.
 * @param {FlameNode} root
 */
function addTotals(root) {
  const nodes = [root];
  for (let i = 0; i < nodes.length; ++i) {
    for (const child of nodes[i].children) nodes.push(child);
  }
  for (let i = nodes.length - 1; i >= 0; --i) {
    nodes[i].total += nodes[i].self;
    const up = nodes[i].parent;
    if (up) up.total += nodes[i].total;
  }
}
