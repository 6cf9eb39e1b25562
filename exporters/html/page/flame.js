// flame.js - one flame graph on a canvas: zoom, search, keyboard.
import { countText, shareText, visible } from "./format.js";
import { fitted, nameColour, prepareCanvas, themeColours, element } from "./view.js";

/** @typedef {import("./interval.js").FlameNode} FlameNode */
/** @typedef {{ node: FlameNode, x: number, y: number, width: number }} Box */

const BOX_HEIGHT = 18;
const LEAST_WIDTH = 0.5;
// Browsers draw nothing on a canvas of more than 65,535 pixels, or of more than
// some hundred million in all.
const MOST_LEVELS = 500;
const MOST_ABOVE = 50;
const HEAD_HEIGHT = 64;  // of the page, which stays in view

export class FlameGraph {
  /** @param {string} label @param {(value: number) => string} valueText */
  constructor(label, valueText) {
    this.valueText = valueText;
    this.canvas = /** @type {HTMLCanvasElement} */ (element("canvas", {
      tabindex: "0", role: "img", "aria-label": label, class: "flame",
    }));
    this.status = element("p", { class: "status", role: "status" });
    this.element = element("div", { class: "flame-graph" }, this.canvas,
      this.status);
    /** @type {FlameNode | null} */
    this.root = null;
    /** @type {FlameNode | null} */
    this.zoomed = null;
    /** @type {FlameNode | null} */
    this.current = null;
    this.search = "";
    this.isName = false;
    this.byWeight = true;
    this.isBefore = false;  // it shows the earlier of two traces
    this.isCut = false;  // there are more levels than it draws
    /** @type {Box[]} */
    this.boxes = [];
    this.canvas.addEventListener("mousemove", (event) => {
      this.point(this.boxAt(event.offsetX, event.offsetY));
    });
    this.canvas.addEventListener("click", (event) => {
      const node = this.boxAt(event.offsetX, event.offsetY);
      if (node) this.zoom(node);
    });
    this.canvas.addEventListener("keydown", (event) => this.key(event));
    this.element.addEventListener("redraw", () => this.draw());
    new ResizeObserver(() => this.draw()).observe(this.element);
  }

  /** @param {FlameNode} root */
  show(root) {
    this.root = this.zoomed = root;
    this.current = null;
    this.draw();
  }

  /** @param {FlameNode} node */
  zoom(node) {
    this.zoomed = node;
    this.current = node;
    this.draw();
  }

  /** @param {string} text @param {boolean} isName the text is a whole name */
  find(text, isName = false) {
    this.search = isName ? text : text.toLowerCase();
    this.isName = isName;
    this.draw();
  }

  /** @param {FlameNode} node */
  matches(node) {
    return this.search !== "" && (this.isName ? node.name === this.search
      : node.name.toLowerCase().includes(this.search));
  }

  /** The weight below outermost nodes that match. */
  matchedWeight() {
    let sum = 0;
    const open = this.root ? [this.root] : [];
    while (open.length > 0) {
      const node = /** @type {FlameNode} */ (open.pop());
      if (this.matches(node)) sum += node.total;
      else for (const child of node.children) open.push(child);
    }
    return sum;
  }

  /** @param {FlameNode} node */
  sortedChildren(node) {
    return this.byWeight
      ? node.children.slice().sort((a, b) => b.total - a.total)
      : node.children;
  }

  layOut(/** @type {number} */ width) {
    this.boxes = [];
    if (!this.root || !this.zoomed || this.root.total <= 0) return 0;
    /** @type {FlameNode[]} */
    const above = [];
    for (let up = this.zoomed.parent; up && above.length < MOST_ABOVE;
      up = up.parent) {
      above.unshift(up);
    }
    above.forEach((node, y) => this.boxes.push({ node, x: 0, y, width }));
    const scale = width / this.zoomed.total;
    let depth = 0;
    this.isCut = false;
    /** @type {Box[]} */
    const open = [{ node: this.zoomed, x: 0, y: above.length, width }];
    while (open.length > 0) {
      const box = /** @type {Box} */ (open.pop());
      this.boxes.push(box);
      depth = Math.max(depth, box.y + 1);
      if (depth === MOST_LEVELS && box.y + 1 === depth) {
        this.isCut = this.isCut || box.node.children.length > 0;
        continue;
      }
      let x = box.x;
      for (const child of this.sortedChildren(box.node)) {
        const childWidth = child.total * scale;
        if (childWidth >= LEAST_WIDTH) {
          open.push({ node: child, x, y: box.y + 1, width: childWidth });
        }
        x += childWidth;
      }
    }
    return depth;
  }

  draw() {
    const width = this.element.clientWidth;
    if (width === 0) return;
    const depth = this.layOut(width);
    const height = Math.max(depth, 1) * BOX_HEIGHT + 2;
    const context = prepareCanvas(this.canvas, width, height);
    const colours = themeColours();
    context.clearRect(0, 0, width, height);
    context.font = "11px system-ui, sans-serif";
    context.textBaseline = "middle";
    if (depth === 0) {
      context.fillStyle = colours.faint;
      context.fillText("Nothing was recorded here.", 4, BOX_HEIGHT / 2);
    }
    for (const box of this.boxes) this.drawBox(context, box, colours);
    this.tell();
  }

  /** @param {CanvasRenderingContext2D} context @param {Box} box
   * @param {ReturnType<typeof themeColours>} colours */
  drawBox(context, { node, x, y, width }, colours) {
    const top = y * BOX_HEIGHT;
    const isAbove = this.zoomed !== null && node !== this.zoomed &&
      width === this.element.clientWidth && this.isAncestor(node);
    context.globalAlpha = isAbove ? 0.5 : 1;
    context.fillStyle = this.matches(node) ? colours.mark
      : this.search !== "" ? colours.dim
        : node === this.root ? colours.line
          : node.other === undefined ? nameColour(node.name, colours.isDark)
            : this.changeColour(node, colours.isDark);
    const wide = Math.max(width - (width > 3 ? 1 : 0), 0.5);
    context.fillRect(x, top, wide, BOX_HEIGHT - 1);
    context.globalAlpha = 1;
    if (node === this.current) {
      context.strokeStyle = colours.accent;
      context.lineWidth = 2;
      context.strokeRect(x + 1, top + 1, Math.max(wide - 2, 1),
        BOX_HEIGHT - 3);
    }
    if (width < 28) return;
    context.fillStyle = this.matches(node) ? "#1a1a1a" : colours.text;
    context.fillText(fitted(visible(node.name), width - 6), x + 3,
      top + BOX_HEIGHT / 2, width - 5);
  }

  /**
   * Red: it takes more than before; blue: less. A tenth of all is the strongest.
   * @param {FlameNode} node @param {boolean} isDark
   */
  changeColour({ total, other = 0 }, isDark) {
    const change = (total - other) * (this.isBefore ? -1 : 1);
    const all = Math.max(this.root ? this.root.total : 0, 1);
    const part = Math.min(Math.abs(change) / all * 10, 1) ** 0.5;
    const hue = change > 0 ? 8 : 215;
    return isDark ? `hsl(${hue} ${60 * part}% ${26 + 16 * part}%)`
      : `hsl(${hue} ${80 * part}% ${92 - 20 * part}%)`;
  }

  /** @param {FlameNode} node */
  isAncestor(node) {
    for (let up = this.zoomed; up; up = up.parent) {
      if (up === node) return true;
    }
    return false;
  }

  /** @param {number} x @param {number} y */
  boxAt(x, y) {
    const row = Math.floor(y / BOX_HEIGHT);
    const found = this.boxes.find((box) =>
      box.y === row && x >= box.x && x < box.x + Math.max(box.width, 1));
    return found ? found.node : null;
  }

  /** @param {FlameNode | null} node */
  point(node) {
    if (node === this.current || !node) return;
    this.current = node;
    this.draw();
  }

  /** Says what the keyboard or the mouse points at. */
  tell() {
    if (!this.root) return;
    const parts = [];
    if (this.current) {
      const node = this.current;
      parts.push(visible(node.name), this.valueText(node.total),
        shareText(node.total, this.root.total),
        `self ${this.valueText(node.self)}`, countText(node.count));
      if (node.other !== undefined) {
        parts.push(`${this.isBefore ? "after" : "before"} ${
          this.valueText(node.other)}`);
      }
      if (node.note) parts.push(visible(node.note));
    } else {
      parts.push(`all: ${this.valueText(this.root.total)}`);
    }
    if (this.search !== "") {
      parts.push(`found ${shareText(this.matchedWeight(), this.root.total)}`);
    }
    if (this.isCut) {
      parts.push(`${MOST_LEVELS} levels: click a box for those below`);
    }
    if (this.root.note) parts.push(this.root.note);
    this.status.textContent = parts.join("  ·  ");
  }

  /** @param {KeyboardEvent} event */
  key(event) {
    const node = this.current || this.zoomed;
    if (!node || !this.root) return;
    /** @param {number} step */
    const sibling = (step) => {
      const row = node.parent ? this.sortedChildren(node.parent) : [node];
      return row[row.indexOf(node) + step];
    };
    /** @type {FlameNode | null | undefined} */
    let next;
    switch (event.key) {
      case "ArrowUp": next = node.parent; break;
      case "ArrowDown": next = this.sortedChildren(node)[0]; break;
      case "ArrowLeft": next = sibling(-1); break;
      case "ArrowRight": next = sibling(1); break;
      case "Enter": this.zoom(node); break;
      case "Escape": this.zoom(this.root); break;
      default: return;
    }
    event.preventDefault();
    if (!next) return;
    this.point(next);
    let box = this.boxes.find((one) => one.node === next);
    if (!box) {  // too narrow, or on a level that is not drawn
      this.zoom(next);
      box = this.boxes.find((one) => one.node === next);
    }
    if (box) this.reveal(box.y);
  }

  /**
   * Scrolls the page as far as needed to see a row.
   * @param {number} row
   */
  reveal(row) {
    const top = this.canvas.getBoundingClientRect().top + row * BOX_HEIGHT;
    const below = top + BOX_HEIGHT - window.innerHeight;
    if (top < HEAD_HEIGHT) window.scrollBy(0, top - HEAD_HEIGHT);
    else if (below > 0) window.scrollBy(0, below);
  }
}
