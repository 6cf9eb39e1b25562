// memory_chart.js - memory over time in layers.
import { bytesText, shareText, tickStep, tickText, timeText, visible }
  from "./format.js";
import { makeTable } from "./table.js";
import { LAYER_COUNT, element, prepareCanvas, themeColours } from "./view.js";

/**
 * Layers from the bottom; rows hold until the next one.
 * @typedef {{ title: string, hasOperations: boolean, names: string[],
 *   times: Float64Array, bytes: Float64Array[] }} MemoryPool bytes: by layer
 */

const HEIGHT = 260;
const LEFT = 76;
const AXIS = 22;
const LEAST_VISIBLE_NS = 10;
const LEAST_DRAG = 4;  // pixels; less is a click

/** @param {MemoryPool} pool @param {number} row */
function sumAt(pool, row) {
  return pool.bytes.reduce((sum, layer) => sum + layer[row], 0);
}

/** @param {MemoryPool} pool */
function peakOf(pool) {
  let best = 0;
  for (let row = 1; row < pool.times.length; ++row) {
    if (sumAt(pool, row) > sumAt(pool, best)) best = row;
  }
  return best;
}

/** @param {MemoryPool} pool */
export function peakBytesOf(pool) {
  return sumAt(pool, peakOf(pool));
}

/**
 * The power of two of bytes between lines, for at most five lines.
 * @param {number} most
 */
function byteStep(most) {
  return 2 ** Math.max(Math.ceil(Math.log2(Math.max(most, 1) / 5)), 0);
}

export class MemoryChart {
  /**
   * @param {MemoryPool} pool @param {number} span
   * @param {((time: number) => void) | undefined} open shows a moment elsewhere
   */
  constructor(pool, span, open) {
    this.pool = pool;
    this.span = Math.max(span, LEAST_VISIBLE_NS);
    this.from = 0;
    this.to = this.span;
    this.peak = peakOf(pool);
    this.most = 1;  // of the visible time
    this.row = this.peak;  // the one that is told
    this.open = open;
    /** @type {{ x: number, from: number, isMoved: boolean } | null} */
    this.drag = null;
    this.canvas = /** @type {HTMLCanvasElement} */ (element("canvas", {
      tabindex: "0", role: "img", class: "memory-chart",
      "aria-label": `${pool.title} over time. The arrow keys go from point ` +
        "to point, Home goes to the peak, W and S zoom, A and D move, 0 shows " +
        `all${open ? ", Enter shows the moment in the timeline" : ""}. A ` +
        "table is below.",
    }));
    this.status = element("p", { class: "status", role: "status" });
    this.cells = pool.bytes.map(() => [element("span"), element("span")]);
    this.element = element("div", { class: "flame-graph" }, this.canvas,
      this.status, this.legend());
    this.listen();
    this.element.addEventListener("redraw", () => this.draw());
    new ResizeObserver(() => this.draw()).observe(this.element);
  }

  listen() {
    const { canvas } = this;
    canvas.addEventListener("pointerdown", (event) => {
      canvas.setPointerCapture(event.pointerId);
      this.drag = { x: event.offsetX, from: this.from, isMoved: false };
    });
    canvas.addEventListener("pointermove", (event) => {
      if (!this.drag) {
        this.point(this.rowAt(this.timeAt(event.offsetX)));
        return;
      }
      const by = event.offsetX - this.drag.x;
      this.drag.isMoved ||= Math.abs(by) >= LEAST_DRAG;
      if (!this.drag.isMoved) return;
      const span = this.to - this.from;
      this.show(this.drag.from - by * span / (this.width - LEFT), span);
    });
    canvas.addEventListener("pointerup", (event) => {
      if (this.drag && !this.drag.isMoved) {
        this.open?.(this.timeAt(event.offsetX));
      }
      this.drag = null;
    });
    canvas.addEventListener("pointercancel", () => { this.drag = null; });
    canvas.addEventListener("pointerleave", () => this.point(this.peak));
    canvas.addEventListener("dblclick", () => this.show(0, this.span));
    canvas.addEventListener("wheel", (event) => {
      // Where a click leads elsewhere, the chart is one of several, and the
      // wheel scrolls the page.
      if (this.open && !event.ctrlKey) return;
      event.preventDefault();
      this.zoom(1.002 ** event.deltaY, this.timeAt(event.offsetX));
    }, { passive: false });
    canvas.addEventListener("keydown", (event) => {
      if (this.press(event)) event.preventDefault();
    });
  }

  /**
   * Returns whether the key means something.
   * @param {KeyboardEvent} event
   */
  press(event) {
    if (event.ctrlKey || event.metaKey || event.altKey) return false;
    const { times } = this.pool;
    const span = this.to - this.from;
    switch (event.key) {
      case "ArrowLeft": this.goTo(this.row - 1); break;
      case "ArrowRight": this.goTo(this.row + 1); break;
      case "Home": this.goTo(this.peak); break;
      case "Enter": this.open?.(times[this.row]); break;
      case "w": case "W": case "+": this.zoom(0.7, times[this.row]); break;
      case "s": case "S": case "-": this.zoom(1 / 0.7, times[this.row]); break;
      case "a": case "A": this.show(this.from - span / 5, span); break;
      case "d": case "D": this.show(this.from + span / 5, span); break;
      case "0": this.show(0, this.span); break;
      default: return false;
    }
    return true;
  }

  /**
   * Shows this time.
   * @param {number} from @param {number} span
   */
  show(from, span) {
    const shown = Math.min(Math.max(span, LEAST_VISIBLE_NS), this.span);
    this.from = Math.min(Math.max(from, 0), this.span - shown);
    this.to = this.from + shown;
    this.draw();
  }

  /**
   * Keeps the place of `at`, which comes into view.
   * @param {number} factor @param {number} at
   */
  zoom(factor, at) {
    const span = Math.max((this.to - this.from) * factor, LEAST_VISIBLE_NS);
    const share = (at - this.from) / (this.to - this.from);
    this.show(at - Math.min(Math.max(share, 0), 1) * span, span);
  }

  /**
   * Tells a row, and moves as far as needed to see it.
   * @param {number} row
   */
  goTo(row) {
    this.row = Math.min(Math.max(row, 0), this.pool.times.length - 1);
    const time = this.pool.times[this.row];
    const span = this.to - this.from;
    this.show(time < this.from || time > this.to ? time - span / 2 : this.from,
      span);
  }

  get width() {
    return this.element.clientWidth;
  }

  /** @param {number} time */
  x(time) {
    return LEFT + (time - this.from) / (this.to - this.from) *
      (this.width - LEFT);
  }

  /** @param {number} bytes */
  y(bytes) {
    return HEIGHT - AXIS - bytes / this.most * (HEIGHT - AXIS - 18);
  }

  /** @param {number} x */
  timeAt(x) {
    return this.from + Math.min(Math.max((x - LEFT) / (this.width - LEFT), 0),
      1) * (this.to - this.from);
  }

  /**
   * The last row that is not after the time; the first one if all are.
   * @param {number} time
   */
  rowAt(time) {
    const { times } = this.pool;
    let low = 0;
    let high = times.length;
    while (high - low > 1) {
      const middle = (low + high) >> 1;
      if (times[middle] <= time) low = middle;
      else high = middle;
    }
    return low;
  }

  /** @param {number} row */
  point(row) {
    this.row = row;
    this.draw();
  }

  draw() {
    const { pool, width } = this;
    if (width === 0) return;
    const context = prepareCanvas(this.canvas, width, HEIGHT);
    const theme = themeColours();
    context.clearRect(0, 0, width, HEIGHT);
    context.font = "11px system-ui, sans-serif";
    context.textBaseline = "middle";
    let first = this.rowAt(this.from);
    while (first > 0 && pool.times[first - 1] === pool.times[first]) --first;
    const last = this.rowAt(this.to);
    this.most = 1;
    for (let row = first; row <= last; ++row) {
      this.most = Math.max(this.most, sumAt(pool, row));
    }
    this.drawAxes(context, theme);
    context.save();
    context.beginPath();
    context.rect(LEFT, 0, width - LEFT, HEIGHT - AXIS);
    context.clip();
    const floors = new Float64Array(pool.times.length);
    pool.bytes.forEach((layer, at) => {
      context.fillStyle = theme.layers[layerOf(pool, at)];
      context.beginPath();
      for (let row = first; row <= last; ++row) {
        const left = this.x(pool.times[row]);
        const right = row + 1 < layer.length ? this.x(pool.times[row + 1])
          : width;
        const floor = this.y(floors[row]);
        floors[row] += layer[row];
        const top = this.y(floors[row]);
        context.rect(left, top, Math.max(right - left, 0.5), floor - top);
      }
      context.fill();
    });
    context.fillStyle = theme.text;
    context.fillRect(Math.round(this.x(pool.times[this.row])), 0, 1, HEIGHT);
    context.restore();
    this.tell();
  }

  /** @param {CanvasRenderingContext2D} context
   * @param {ReturnType<typeof themeColours>} theme */
  drawAxes(context, theme) {
    const step = byteStep(this.most);
    for (let bytes = 0; bytes <= this.most; bytes += step) {
      const y = Math.round(this.y(bytes));
      context.fillStyle = theme.line;
      context.fillRect(LEFT, y, this.width - LEFT, 1);
      context.fillStyle = theme.faint;
      context.textAlign = "right";
      context.fillText(bytesText(bytes), LEFT - 8, y);
    }
    context.textAlign = "left";
    const distance = tickStep(this.to - this.from, (this.width - LEFT) / 90);
    const first = Math.ceil(this.from / distance);
    // After a year, a nanosecond more is the same number.
    for (let i = 0; i < 100 && (first + i) * distance <= this.to; ++i) {
      const time = (first + i) * distance;
      const x = Math.round(this.x(time));
      context.fillStyle = theme.line;
      context.fillRect(x, HEIGHT - AXIS, 1, 6);
      context.fillStyle = theme.faint;
      if (x + 40 < this.width) {
        context.fillText(tickText(time, distance), x + 4, HEIGHT - AXIS / 2);
      }
    }
  }

  tell() {
    const { pool, row } = this;
    const all = sumAt(pool, row);
    this.status.textContent = `${row === this.peak ? "The peak: " : ""}${
      bytesText(all)} at ${timeText(pool.times[row])}`;
    this.cells.forEach(([size, share], at) => {
      const bytes = pool.bytes[at][row];
      size.textContent = bytesText(bytes);
      size.dataset.value = String(bytes);
      share.textContent = shareText(bytes, all);
    });
  }

  /** The layers and what they have where the chart points. */
  legend() {
    const { pool } = this;
    return element("ul", { class: "legend", "aria-label": "Layers" },
      ...this.cells.map((cells, at) => element("li", {},
        element("i", { "data-layer": layerOf(pool, at) }),
        element("bdi", { title: nameOf(pool, at) }, nameOf(pool, at)),
        ...cells)));
  }
}

/**
 * The number of a layer's colour; the last one is for what others hold.
 * @param {MemoryPool} pool @param {number} layer
 */
function layerOf(pool, layer) {
  return layer === pool.names.length ? LAYER_COUNT - 1 : layer;
}

/** @param {MemoryPool} pool @param {number} layer */
function nameOf(pool, layer) {
  if (layer === pool.names.length) {
    return layer === 0 ? "all" : "others";
  }
  return visible(pool.names[layer]) ||
    (pool.hasOperations ? "outside of operations" : "unknown");
}

/**
 * The table behind the picture.
 * @param {string} id @param {MemoryPool} pool
 */
export function memoryRows(id, pool) {
  const details = element("details", {}, element("summary", {}, "As a table"));
  details.addEventListener("toggle", () => {
    if (details.querySelector("section")) return;
    details.append(makeTable({ id, caption: `${pool.title} over time`,
      rows: Array.from(pool.times, (_, row) => row), columns: [
        { title: "Time", kind: "ns", value: (row) => pool.times[row] },
        { title: "All", kind: "bytes", value: (row) => sumAt(pool, row) },
        .../** @type {import("./table.js").Column[]} */ (pool.bytes.map(
          (layer, at) => ({ title: nameOf(pool, at), kind: "bytes",
            value: (/** @type {number} */ row) => layer[row] }))),
      ] }));
  });
  return details;
}
