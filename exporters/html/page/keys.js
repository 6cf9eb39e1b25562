// keys.js - the keyboard of the timeline.

/**
 * The event beside the chosen one: on its line, its parent or a child.
 * @param {import("./timeline.js").Timeline} timeline
 * @param {string} key
 * @returns {import("./draw.js").Target | null}
 */
function neighbour(timeline, key) {
  const { lines } = timeline.lines;
  const target = timeline.painter.chosen;
  if (!target) {
    const line = lines.find((one) => one.items.length > 0);
    if (!line) return null;
    const at = Math.min(timeline.lines.firstAt(line, timeline.from),
      line.items.length - 1);
    return { line, item: line.items[at] };
  }
  const { line } = target;
  const [start, end] = timeline.lines.times(line, target.item);
  if (key === "ArrowLeft" || key === "ArrowRight") {
    const at = timeline.lines.positionOf(line, target.item) +
      (key === "ArrowLeft" ? -1 : 1);
    return at >= 0 && at < line.items.length
      ? { line, item: line.items[at] } : null;
  }
  const step = key === "ArrowUp" ? -1 : 1;
  for (let i = lines.findIndex((one) => one.top === line.top) + step;
    lines[i]; i += step) {
    if (lines[i].items.length === 0) continue;
    let at = timeline.lines.firstAt(lines[i], step > 0 ? start : start + 1e-9);
    if (step < 0 || at === lines[i].items.length ||
        timeline.lines.times(lines[i], lines[i].items[at])[0] > end) {
      at -= 1;
    }
    return { line: lines[i], item: lines[i].items[Math.max(at, 0)] };
  }
  return null;
}

/**
 * @param {import("./timeline.js").Timeline} timeline
 * @param {KeyboardEvent} event
 */
export function pressKey(timeline, event) {
  if (event.ctrlKey || event.metaKey || event.altKey) return;
  const on = /** @type {Element} */ (event.target);
  // What is below the timeline has keys of its own.
  if (on.closest("input, select, .interval")) return;
  if (event.key === "Enter" && on !== timeline.canvas) return;
  const { chosen } = timeline.painter;
  switch (event.key) {
    case "w": case "W": case "+": timeline.zoom(0.7); break;
    case "s": case "S": case "-": timeline.zoom(1 / 0.7); break;
    case "a": case "A": timeline.pan(-0.2); break;
    case "d": case "D": timeline.pan(0.2); break;
    case "0": case "Home": timeline.view(0, timeline.span); break;
    case "PageUp": timeline.scroll(-200); break;
    case "PageDown": timeline.scroll(200); break;
    case "f": case "F": if (chosen) timeline.fit(chosen); break;
    case "n": timeline.nextMatch(1); break;
    case "N": timeline.nextMatch(-1); break;
    case "/": timeline.searchField.focus(); break;
    case "Escape": timeline.clear(); break;
    case "Enter": case "m":
      if (chosen) {
        timeline.select(...timeline.lines.times(chosen.line, chosen.item));
      }
      break;
    case "ArrowLeft": case "ArrowRight": case "ArrowUp": case "ArrowDown": {
      const next = neighbour(timeline, event.key);
      if (next) {
        timeline.choose(next);
        timeline.reveal(next);
      }
      break;
    }
    default: return;
  }
  event.preventDefault();
}
