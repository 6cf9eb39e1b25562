// timeline.js - the timeline: mouse, keyboard, search, selection.
import { Trace } from "./data.js";
import { AXIS_HEIGHT, Painter } from "./draw.js";
import { Lines } from "./rows.js";
import { countText, timeText, visible } from "./format.js";
import { pressKey } from "./keys.js";
import { movePointer, pressPointer, turnWheel } from "./pointer.js";
import { eventDetails, sliceDetails, waitDetails } from "./details.js";
import { button, element, field, prepareCanvas } from "./view.js";

/** @typedef {import("./rows.js").Line} Line */
/** @typedef {import("./draw.js").Target} Target */

const LEAST_SPAN_NS = 10;

export class Timeline {
  /**
   * @param {Trace} trace
   * @param {{ moved: () => void, selected: () => void }} listener
   */
  constructor(trace, listener) {
    this.trace = trace;
    this.listener = listener;
    this.lines = new Lines(trace);
    this.painter = new Painter(this.lines);
    this.span = Math.max(trace.meta.span_ns, LEAST_SPAN_NS);
    this.from = 0;
    this.to = this.span;
    this.y = 0;
    this.isAwaited = false;
    /** @type {number[]} the events that the search found */
    this.matches = [];
    this.match = -1;  // the one that was shown last
    this.canvas = /** @type {HTMLCanvasElement} */ (element("canvas", {
      tabindex: "0", role: "img", id: "timeline-canvas",
      "aria-label": "Timeline. W and S zoom, A and D move, the arrow keys go " +
        "from event to event, Enter selects the time of the event, 0 shows " +
        "all. The tables below say the same.",
    }));
    this.tip = element("div", { class: "tip", "aria-hidden": "true" });
    this.tip.hidden = true;
    this.details = element("section", { class: "side", "aria-live": "polite",
      "aria-label": "Details" });
    this.explain();
    this.range = element("output", { class: "status", id: "timeline-range" });
    this.searchField = field("Search names ( / )", { type: "search",
      input: () => this.find(this.searchField.value),
      keydown: (/** @type {KeyboardEvent} */ event) => {
        if (event.key !== "Enter") return;
        this.nextMatch(event.shiftKey ? -1 : 1);
        if (this.matches.length > 0) this.canvas.focus();  // for N
      } });
    this.found = element("output", { class: "status" });
    this.element = this.build();
    this.listen();
  }

  build() {
    const stage = element("div", { class: "stage" }, this.canvas, this.tip);
    this.stage = stage;
    new ResizeObserver(() => this.draw()).observe(stage);
    return element("div", { class: "timeline" },
      element("div", { class: "bar" }, this.searchField, this.found,
        button("◀", "Previous match", () => this.nextMatch(-1)),
        button("▶", "Next match", () => this.nextMatch(1)),
        button("+", "Zoom in", () => this.zoom(0.5)),
        button("−", "Zoom out", () => this.zoom(2)),
        button("⤢", "Show the whole time", () => this.view(0, this.span)),
        button("Select view", "Select the visible time", () =>
          this.select(this.from, this.to)),
        this.range),
      element("div", { class: "split" }, stage, this.details));
  }

  listen() {
    const { canvas } = this;
    canvas.addEventListener("wheel", (event) => turnWheel(this, event),
      { passive: false });
    this.element.addEventListener("keydown", (event) => pressKey(this, event));
    canvas.addEventListener("pointerdown", (event) => pressPointer(this, event));
    canvas.addEventListener("pointermove", (event) => movePointer(this, event));
    canvas.addEventListener("pointerleave", () => this.hint(null));
    canvas.addEventListener("dblclick", () => {
      if (this.painter.chosen) this.fit(this.painter.chosen);
    });
  }

  port() {
    const stage = /** @type {HTMLElement} */ (this.stage);
    const width = stage.clientWidth;
    return { from: this.from, to: this.to, y: this.y, width,
      height: stage.clientHeight, gutter: width < 560 ? 64 : 150 };
  }

  /** Draws before the browser next paints. */
  draw() {
    if (this.isAwaited) return;
    this.isAwaited = true;
    requestAnimationFrame(() => {
      this.isAwaited = false;
      this.drawNow();
    });
  }

  drawNow() {
    const port = this.port();
    if (port.width === 0) return;
    this.painter.draw(
      prepareCanvas(this.canvas, port.width, port.height), port);
    this.range.textContent = this.painter.selection
      ? `selected ${timeText(this.painter.selection[1] -
        this.painter.selection[0])}`
      : `${timeText(this.to - this.from)} from ${timeText(this.from)}`;
  }

  /** @param {number} from @param {number} to */
  view(from, to) {
    const span = Math.min(Math.max(to - from, LEAST_SPAN_NS), this.span * 1.1);
    const least = -this.span * 0.05;
    const most = this.span * 1.05;
    this.from = Math.min(Math.max(from, least), most - span);
    this.to = this.from + span;
    this.draw();
    this.listener.moved();
  }

  /**
   * Keeps the place of `at`.
   * @param {number} factor
   * @param {number} at
   */
  zoom(factor, at = (this.from + this.to) / 2) {
    const span = Math.max((this.to - this.from) * factor, LEAST_SPAN_NS);
    const share = (at - this.from) / (this.to - this.from);
    this.view(at - span * share, at - span * share + span);
  }

  /** @param {number} share of the visible time */
  pan(share) {
    const by = (this.to - this.from) * share;
    this.view(this.from + by, this.to + by);
  }

  /** @param {number} by */
  scroll(by) {
    const most = Math.max(this.lines.height + AXIS_HEIGHT + 8 -
      this.port().height, 0);
    this.y = Math.min(Math.max(this.y + by, 0), most);
    this.draw();
  }

  /** @param {number} x */
  timeAt(x) {
    const port = this.port();
    return port.from + (x - port.gutter) / (port.width - port.gutter) *
      (port.to - port.from);
  }

  /** @param {Target | null} target @param {PointerEvent} [event] */
  hint(target, event) {
    const before = this.painter.hovered;
    this.painter.hovered = target;
    this.tip.hidden = target === null;
    if (target && event) {
      const [start, end] = this.lines.times(target.line, target.item);
      this.tip.textContent = `${timeText(end - start)}  ${
        visible(this.lines.name(target.line, target.item)).slice(0, 300)}`;
      const width = this.port().width;
      this.tip.style.left = `${Math.min(event.offsetX + 12,
        Math.max(width - 260, 0))}px`;
      this.tip.style.top = `${event.offsetY + 16}px`;
    }
    if ((before && before.item) !== (target && target.item)) this.draw();
  }

  /** @param {Target | null} target */
  choose(target) {
    this.painter.chosen = target;
    if (target) {
      const { line, item } = target;
      this.details.replaceChildren(
        line.kind === "ranges"
          ? eventDetails(this.trace, item, (event) => this.goTo(event))
          : line.kind === "waits" ? waitDetails(this.trace, item)
            : this.sampleDetails(line, item));
    }
    this.draw();
    this.listener.moved();
  }

  /** @param {Line} line @param {number} item */
  sampleDetails(line, item) {
    const slices = this.lines.slices.get(line.track);
    const [start, end] = this.lines.times(line, item);
    return sliceDetails(this.trace, slices ? slices.stacks[item] : 0, start,
      end - start);
  }

  /**
   * Chooses an event and shows it.
   * @param {number} event
   */
  goTo(event) {
    const track = this.trace.trackOf(event);
    if (this.lines.closed.has(track)) this.lines.toggle(track);
    const line = this.painter.lineOf(event);
    if (!line) return;
    const target = { line, item: event };
    this.choose(target);
    this.reveal(target);
  }

  /**
   * Selects an interval and shows it.
   * @param {number} track where to look; -1: anywhere
   * @param {number} from @param {number} to
   */
  goToInterval(track, from, to) {
    if (this.lines.closed.has(track)) this.lines.toggle(track);
    const line = this.lines.lines.find((one) => one.track === track);
    if (line && track >= 0) this.scroll(line.top - this.y);
    const margin = Math.max((to - from) * 0.1, 1);
    this.view(from - margin, to + margin);
    this.select(from, to);
  }

  /**
   * Moves as far as needed to see the target.
   * @param {Target} target
   */
  reveal({ line, item }) {
    const [start, end] = this.lines.times(line, item);
    const span = this.to - this.from;
    if (end - start > span || end - start < span / 400) {
      const wide = Math.max((end - start) * 4, LEAST_SPAN_NS);
      this.view((start + end - wide) / 2, (start + end + wide) / 2);
    } else if (start < this.from || end > this.to) {
      this.view((start + end - span) / 2, (start + end + span) / 2);
    }
    const height = this.port().height - AXIS_HEIGHT;
    if (line.top < this.y || line.top + line.height > this.y + height) {
      this.scroll(line.top - height / 2 - this.y);
    }
  }

  /** @param {Target} target */
  fit({ line, item }) {
    const [start, end] = this.lines.times(line, item);
    const margin = Math.max((end - start) * 0.1, 1);
    this.view(start - margin, end + margin);
  }

  /**
   * Marks the part of the interval that is in the trace; nothing if there is
   * none.
   * @param {number} from @param {number} to
   */
  mark(from, to) {
    const begin = Math.max(from, 0);
    const end = Math.min(to, this.span);
    this.painter.selection = begin < end ? [begin, end] : null;
    this.draw();
  }

  /** @param {number} from @param {number} to */
  select(from, to) {
    this.mark(from, to);
    this.listener.selected();
  }

  /** What the place of the details says of no event. */
  explain() {
    this.details.replaceChildren(element("p", { class: "status" },
      "Click an event for its details. Drag on the axis, or with Shift, to " +
      "select an interval."));
  }

  clear() {
    this.painter.selection = null;
    this.painter.chosen = null;
    this.explain();
    this.draw();
    this.listener.selected();
  }

  /**
   * Ranges whose name has this text, in the order of the trace.
   * @param {string} text @param {boolean} isName the text is the whole name
   */
  find(text, isName = false) {
    this.painter.search = isName ? text : text.toLowerCase();
    this.painter.isName = isName;
    this.matches = [];
    this.match = -1;
    if (text !== "") {
      const { trace } = this;
      const isMatch = trace.strings.map((name) => this.painter.isFound(name));
      for (let i = 0; i < trace.paths.length; ++i) {
        if (isMatch[trace.pathName[trace.paths[i]]]) this.matches.push(i);
      }
      this.found.textContent = this.matches.length === 1 ? "1 range found"
        : `${countText(this.matches.length)} ranges found`;
    } else {
      this.found.textContent = "";
    }
    this.draw();
  }

  /** @param {number} step */
  nextMatch(step) {
    if (this.matches.length === 0) return;
    const count = this.matches.length;
    this.match = this.match < 0
      ? (step > 0 ? 0 : count - 1) : (this.match + step + count) % count;
    this.goTo(this.matches[this.match]);
    this.found.textContent =
      `${countText(this.match + 1)} of ${countText(count)}`;
  }
}
