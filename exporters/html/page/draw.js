// draw.js - draws the timeline. The cost of a frame depends on the pixels, not
// on the events: where many events share a pixel, one of them is drawn.
import { FLAG_INSTANT } from "./data.js";
import { Lines } from "./rows.js";
import { bytesText, countText, tickStep, tickText, visible }
  from "./format.js";
import { fitted, nameColour, themeColours } from "./view.js";

/** @typedef {import("./rows.js").Line} Line */
/** @typedef {{ from: number, to: number, y: number, width: number,
 *   height: number, gutter: number }} Port what is seen */
/** @typedef {{ line: Line, item: number }} Target */

export const AXIS_HEIGHT = 24;
const MOST_CURVES = 200;

/** @param {Lines} lines @param {Line} line @param {number} item */
function isMark({ trace }, line, item) {
  return line.kind === "ranges" &&
    (trace.pathFlags[trace.paths[item]] & FLAG_INSTANT) !== 0;
}

export class Painter {
  /** @param {Lines} lines */
  constructor(lines) {
    this.lines = lines;
    this.search = "";
    this.isName = false;  // what is searched is a whole name
    /** @type {Target | null} */
    this.chosen = null;
    /** @type {Target | null} */
    this.hovered = null;
    /** @type {[number, number] | null} */
    this.selection = null;
    /** @type {Map<string, string>} */
    this.colours = new Map();
    this.wasDark = false;
  }

  /** @param {CanvasRenderingContext2D} context @param {Port} port */
  draw(context, port) {
    const theme = themeColours();
    if (theme.isDark !== this.wasDark) this.colours.clear();
    this.wasDark = theme.isDark;
    context.clearRect(0, 0, port.width, port.height);
    context.font = "11px system-ui, sans-serif";
    context.textBaseline = "middle";
    context.save();
    context.beginPath();
    context.rect(0, AXIS_HEIGHT, port.width, port.height - AXIS_HEIGHT);
    context.clip();
    this.drawGrid(context, port, theme);
    const { lines } = this.lines;
    for (let i = this.lines.firstBelow(port.y); i < lines.length; ++i) {
      const y = lines[i].top - port.y + AXIS_HEIGHT;
      if (y > port.height) break;
      this.drawLine(context, port, theme, lines[i], y);
    }
    this.drawFlows(context, port, theme);
    context.restore();
    this.drawAxis(context, port, theme);
    this.drawSelection(context, port, theme);
  }

  /** @param {Port} port @param {number} time */
  x(port, time) {
    return port.gutter + (time - port.from) / (port.to - port.from) *
      (port.width - port.gutter);
  }

  /** @param {Port} port */
  ticks(port) {
    const span = port.to - port.from;
    const step = tickStep(span, (port.width - port.gutter) / 90);
    const ticks = [];
    for (let n = Math.ceil(port.from / step); n * step <= port.to; ++n) {
      ticks.push(n * step);
      if (ticks.length > 100) break;
    }
    return { step, ticks };
  }

  /** @param {CanvasRenderingContext2D} context @param {Port} port
   * @param {ReturnType<typeof themeColours>} theme */
  drawGrid(context, port, theme) {
    context.fillStyle = theme.line;
    for (const time of this.ticks(port).ticks) {
      context.fillRect(Math.round(this.x(port, time)), AXIS_HEIGHT, 1,
        port.height);
    }
  }

  /** @param {CanvasRenderingContext2D} context @param {Port} port
   * @param {ReturnType<typeof themeColours>} theme */
  drawAxis(context, port, theme) {
    context.fillStyle = theme.panel;
    context.fillRect(0, 0, port.width, AXIS_HEIGHT);
    context.fillStyle = theme.faint;
    const { step, ticks } = this.ticks(port);
    for (const time of ticks) {
      const x = Math.round(this.x(port, time));
      context.fillRect(x, AXIS_HEIGHT - 6, 1, 6);
      context.fillText(tickText(time, step), x + 4, AXIS_HEIGHT / 2);
    }
    context.fillStyle = theme.line;
    context.fillRect(0, AXIS_HEIGHT - 1, port.width, 1);
  }

  /** @param {CanvasRenderingContext2D} context @param {Port} port
   * @param {ReturnType<typeof themeColours>} theme @param {Line} line
   * @param {number} y */
  drawLine(context, port, theme, line, y) {
    if (line.kind === "title") {
      const isProcess = line.track < 0;
      context.fillStyle = isProcess ? theme.panel : theme.page;
      if (isProcess) context.fillRect(0, y, port.width, line.height);
      context.fillStyle = isProcess ? theme.text : theme.faint;
      const mark = isProcess ? ""
        : this.lines.closed.has(line.track) ? "▸ " : "▾ ";
      context.fillText(mark + visible(line.label), isProcess ? 6 : 10,
        y + line.height / 2 + 1);
      return;
    }
    context.save();
    context.beginPath();
    context.rect(port.gutter, y, port.width - port.gutter, line.height);
    context.clip();
    if (line.kind === "counter") this.drawCounter(context, port, theme, line, y);
    else this.drawItems(context, port, theme, line, y);
    context.restore();
    if (line.label === "") return;
    context.fillStyle = theme.faint;
    const left = port.gutter < 100 ? 4 : 22;
    context.fillText(fitted(visible(line.label), port.gutter - left - 4), left,
      y + line.height / 2);
  }

  /** @param {CanvasRenderingContext2D} context @param {Port} port
   * @param {ReturnType<typeof themeColours>} theme @param {Line} line
   * @param {number} y */
  drawItems(context, port, theme, line, y) {
    const { lines } = this;
    const perPixel = (port.to - port.from) / (port.width - port.gutter);
    const height = line.height - 2;
    let at = Math.max(lines.firstAt(line, port.from) - 1, 0);
    // Where boxes of a pixel are, by colour: a change of colour costs more than
    // a box.
    /** @type {Map<string, number[]>} */
    const dots = new Map();
    while (at < line.items.length) {
      const item = line.items[at];
      const [start, end] = lines.times(line, item);
      if (start > port.to) break;
      const left = Math.max(this.x(port, start), port.gutter - 2);
      const right = Math.min(this.x(port, end), port.width + 2);
      // What begins at the end of the view is seen, too.
      const place = Math.min(left, port.width - 1);
      const isDot = right - left < 1 && !isMark(lines, line, item) &&
        !this.isTarget(this.chosen, line, item) &&
        !this.isTarget(this.hovered, line, item);
      if (isDot && right >= port.gutter) {
        const colour = this.colourOfItem(line, item, theme);
        const of = dots.get(colour);
        if (of) of.push(place);
        else dots.set(colour, [place]);
      } else if (right >= port.gutter) {
        this.drawItem(context, theme, line, item, place, right, y, height);
      }
      ++at;
      // Skip what would be drawn on the same pixel, but for the last one if it is
      // long.
      if (right - left < 1 && at < line.items.length) {
        const next = port.from + (Math.floor(left) + 1 - port.gutter) * perPixel;
        if (lines.start(line, line.items[at]) < next) {
          at = lines.firstAt(line, next, at) - 1;
          if (lines.times(line, line.items[at])[1] <= next) ++at;
        }
      }
    }
    for (const [colour, places] of dots) {
      context.fillStyle = colour;
      for (const left of places) context.fillRect(left, y, 1, height);
    }
  }

  /** @param {CanvasRenderingContext2D} context
   * @param {ReturnType<typeof themeColours>} theme @param {Line} line
   * @param {number} item @param {number} left @param {number} right
   * @param {number} y @param {number} height */
  drawItem(context, theme, line, item, left, right, y, height) {
    const name = this.lines.name(line, item);
    const isFound = this.isFound(name);
    context.fillStyle = this.colourOfItem(line, item, theme);
    if (isMark(this.lines, line, item)) {
      context.beginPath();
      context.moveTo(left - 4, y);
      context.lineTo(left + 4, y);
      context.lineTo(left, y + height);
      context.fill();
      return;
    }
    const width = Math.max(right - left - (right - left > 3 ? 1 : 0), 1);
    context.fillRect(left, y, width, height);
    if (this.isTarget(this.chosen, line, item) ||
        this.isTarget(this.hovered, line, item)) {
      context.strokeStyle = theme.accent;
      context.lineWidth = 2;
      context.strokeRect(left + 1, y + 1, Math.max(width - 2, 1), height - 2);
    }
    if (width < 26) return;
    context.fillStyle = isFound ? "#1a1a1a" : theme.text;
    context.fillText(fitted(visible(name), width - 6), left + 3,
      y + height / 2 + 0.5, width - 5);
  }

  /** @param {Line} line @param {number} item
   * @param {ReturnType<typeof themeColours>} theme */
  colourOfItem(line, item, theme) {
    const name = this.lines.name(line, item);
    if (this.search === "") return this.colourOf(name, theme.isDark);
    return this.isFound(name) ? theme.mark : theme.dim;
  }

  /** @param {string} name */
  isFound(name) {
    return this.search !== "" && (this.isName ? name === this.search
      : name.toLowerCase().includes(this.search));
  }

  /** @param {Target | null} target @param {Line} line @param {number} item */
  isTarget(target, line, item) {
    return target !== null && target.item === item &&
      target.line.kind === line.kind && target.line.track === line.track;
  }

  /** @param {string} name @param {boolean} isDark */
  colourOf(name, isDark) {
    let colour = this.colours.get(name);
    if (!colour) {
      this.colours.set(name, colour = nameColour(name, isDark));
    }
    return colour;
  }

  /** @param {CanvasRenderingContext2D} context @param {Port} port
   * @param {ReturnType<typeof themeColours>} theme @param {Line} line
   * @param {number} y */
  drawCounter(context, port, theme, line, y) {
    const curve = this.lines.trace.curves[line.curve];
    let least = 0;
    let greatest = 0;
    for (const value of curve.values) {
      if (!Number.isFinite(value)) continue;
      least = Math.min(least, value);
      greatest = Math.max(greatest, value);
    }
    const height = line.height - 4;
    const scale = greatest > least ? height / (greatest - least) : 0;
    const floor = y + height + least * scale;
    context.fillStyle = this.colourOf(line.label, theme.isDark);
    for (let i = 0; i < curve.times.length; ++i) {
      const right = i + 1 < curve.times.length
        ? this.x(port, curve.times[i + 1])
        : this.x(port, this.lines.trace.meta.span_ns);
      const left = this.x(port, curve.times[i]);
      if (right < port.gutter || !Number.isFinite(curve.values[i])) continue;
      if (left > port.width) break;
      const top = floor - curve.values[i] * scale;
      context.fillRect(left, Math.min(top, floor), Math.max(right - left, 1),
        Math.max(Math.abs(floor - top), 1));
    }
    context.fillStyle = theme.faint;
    const text = line.label.startsWith("Memory: ") ? bytesText : countText;
    context.fillText(text(greatest), port.gutter + 4, y + 8);
  }

  /**
   * Curves from the chosen event to the events that it caused, and from the
   * events that caused it.
   * @param {CanvasRenderingContext2D} context
   * @param {Port} port
   * @param {ReturnType<typeof themeColours>} theme
   */
  drawFlows(context, port, theme) {
    if (!this.chosen || this.chosen.line.kind !== "ranges") return;
    const { flows } = this.lines.trace;
    context.strokeStyle = theme.accent;
    context.lineWidth = 1.5;
    const own = this.lines.trace.flowsOf(this.chosen.item);
    for (const i of own.subarray(0, MOST_CURVES)) {
      const a = this.placeOf(port, flows[i]);
      const b = this.placeOf(port, flows[i + 1]);
      if (!a || !b) continue;
      const bend = Math.max(Math.abs(b.x - a.x) / 2, 24);
      context.beginPath();
      context.moveTo(a.x, a.y);
      context.bezierCurveTo(a.x + bend, a.y, b.x - bend, b.y, b.x, b.y);
      context.stroke();
    }
  }

  /** @param {number} event @returns {Line | null} */
  lineOf(event) {
    const track = this.lines.trace.trackOf(event);
    for (const line of this.lines.lines) {
      if (line.kind !== "ranges" || line.track !== track) continue;
      if (this.lines.positionOf(line, event) >= 0) return line;
    }
    return null;
  }

  /** @param {Port} port @param {number} event */
  placeOf(port, event) {
    const line = this.lineOf(event);
    return line && {
      x: this.x(port, this.lines.trace.starts[event]),
      y: line.top - port.y + AXIS_HEIGHT + line.height / 2,
    };
  }

  /** @param {CanvasRenderingContext2D} context @param {Port} port
   * @param {ReturnType<typeof themeColours>} theme */
  drawSelection(context, port, theme) {
    if (!this.selection) return;
    const left = Math.max(this.x(port, this.selection[0]), port.gutter);
    const right = Math.min(this.x(port, this.selection[1]), port.width);
    if (right < left) return;
    context.fillStyle = theme.accent;
    context.globalAlpha = 0.12;
    context.fillRect(left, 0, Math.max(right - left, 1), port.height);
    context.globalAlpha = 1;
    context.fillRect(left, 0, 1, port.height);
    context.fillRect(right, 0, 1, port.height);
  }
}
