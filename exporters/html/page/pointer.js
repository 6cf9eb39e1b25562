// pointer.js - the mouse, the pen and the finger on the timeline.
import { AXIS_HEIGHT } from "./draw.js";

/** @typedef {import("./timeline.js").Timeline} Timeline */
/** @typedef {import("./draw.js").Target} Target */

/** @param {Timeline} timeline @param {WheelEvent} event */
export function turnWheel(timeline, event) {
  event.preventDefault();
  const delta = event.deltaMode === 1 ? event.deltaY * 16 : event.deltaY;
  if (event.shiftKey || Math.abs(event.deltaX) > Math.abs(event.deltaY)) {
    timeline.pan((event.deltaX || delta) / 800);
  } else if (event.altKey || event.offsetX < timeline.port().gutter) {
    timeline.scroll(delta);
  } else {
    timeline.zoom(1.002 ** delta, timeline.timeAt(event.offsetX));
  }
}

/**
 * A press begins a click, a drag or a selection.
 * @param {Timeline} timeline @param {PointerEvent} event
 */
export function pressPointer(timeline, event) {
  if (event.button !== 0) return;
  const { canvas } = timeline;
  canvas.setPointerCapture(event.pointerId);
  const isSelection = event.shiftKey || event.offsetY < AXIS_HEIGHT;
  const begin = { x: event.offsetX, y: event.offsetY, from: timeline.from,
    to: timeline.to, top: timeline.y, time: timeline.timeAt(event.offsetX) };
  let isDrag = false;
  const move = (/** @type {PointerEvent} */ moved) => {
    const dx = moved.offsetX - begin.x;
    const dy = moved.offsetY - begin.y;
    if (!isDrag && Math.abs(dx) + Math.abs(dy) < 4) return;
    isDrag = true;
    if (isSelection) {
      const end = timeline.timeAt(moved.offsetX);
      timeline.mark(Math.min(begin.time, end), Math.max(begin.time, end));
      return;
    }
    const port = timeline.port();
    const shift = dx / (port.width - port.gutter) * (begin.to - begin.from);
    timeline.view(begin.from - shift, begin.to - shift);
    timeline.y = begin.top;
    timeline.scroll(-dy);
  };
  const end = (/** @type {PointerEvent} */ ended) => {
    canvas.removeEventListener("pointermove", move);
    canvas.removeEventListener("pointerup", end);
    canvas.removeEventListener("pointercancel", end);
    if (!isDrag) click(timeline, ended);
    else if (isSelection) timeline.listener.selected();
  };
  canvas.addEventListener("pointermove", move);
  canvas.addEventListener("pointerup", end);
  canvas.addEventListener("pointercancel", end);
}

/**
 * What is at a place; a title is the item -1 of its line.
 * @param {Timeline} timeline @param {number} x @param {number} y
 * @returns {Target | null}
 */
function targetAt(timeline, x, y) {
  const { lines } = timeline;
  const line = lines.lines[lines.firstBelow(y - AXIS_HEIGHT + timeline.y)];
  if (y < AXIS_HEIGHT || !line) return null;
  if (line.kind === "title") return { line, item: -1 };
  if (line.kind === "counter" || x < timeline.port().gutter) return null;
  const time = timeline.timeAt(x);
  const slack = 4 * (timeline.timeAt(x + 1) - time);
  let best = null;
  let bestDistance = slack;
  const after = lines.firstAt(line, time + slack);
  for (let i = after - 1; i >= 0 && i >= after - 64; --i) {
    const [start, end] = lines.times(line, line.items[i]);
    const distance = time < start ? start - time
      : time > end ? time - end : -1;
    if (distance < bestDistance) {
      bestDistance = distance;
      best = { line, item: line.items[i] };
    }
    if (distance < 0) break;
  }
  return best;
}

/** @param {Timeline} timeline @param {PointerEvent} event */
function click(timeline, event) {
  const target = targetAt(timeline, event.offsetX, event.offsetY);
  if (!target || target.item >= 0) {
    timeline.choose(target);
  } else if (target.line.track >= 0) {
    timeline.lines.toggle(target.line.track);
    timeline.scroll(0);
  }
}

/** @param {Timeline} timeline @param {PointerEvent} event */
export function movePointer(timeline, event) {
  if (event.buttons !== 0) return;
  const target = targetAt(timeline, event.offsetX, event.offsetY);
  timeline.hint(target && target.item >= 0 ? target : null, event);
}
