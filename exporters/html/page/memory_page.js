// memory_page.js - memory_timeline.html: the memory of one device by category.
// timeline_page.h of exporters/memory_timeline says what its data are.
import { readBlocks } from "./blocks.js";
import { bytesText, countText } from "./format.js";
import { MemoryChart, memoryRows } from "./memory_chart.js";
import { startPage } from "./start.js";
import { element } from "./view.js";

/** @typedef {import("./memory_chart.js").MemoryPool} MemoryPool */

/** @param {any} data @returns {MemoryPool} */
function poolOf(data) {
  const times = data.times_us.map((/** @type {number} */ us) => 1000 * us);
  const rows = data.bytes;
  // Before the first point there was none.
  if (!(times[0] <= 0)) {
    times.unshift(0);
    rows.unshift(data.categories.map(() => 0));
  }
  return {
    title: `Memory of ${data.device}`, hasOperations: true,
    names: data.categories, times: Float64Array.from(times),
    bytes: data.categories.map((/** @type {string} */ _,
      /** @type {number} */ at) => Float64Array.from(rows,
      (/** @type {number[]} */ row) => row[at])),
  };
}

/** @param {any} data */
function maximaText(data) {
  return `Max memory allocated: ${bytesText(data.max_allocated)}${
    data.max_reserved > 0
      ? `, max memory reserved: ${bytesText(data.max_reserved)}` : ""}`;
}

startPage(async (blocks) => {
  const { timeline } = await readBlocks(blocks, ["timeline"]);
  const data = JSON.parse(new TextDecoder().decode(timeline.bytes));
  const title = `Memory timeline of ${data.device}`;
  document.title = title;
  document.getElementById("command")?.append(title);
  const notes = data.times_us.length < data.points
    ? [element("p", { class: "note", id: "note" },
      `${countText(data.times_us.length)} of ${countText(data.points)} points ` +
      "are shown; peaks are among them.")] : [];
  const pool = poolOf(data);
  const chart = new MemoryChart(pool, 1000 * data.end_us, undefined);
  document.getElementById("main")?.append(element("section",
    { class: "memory", id: "memory-0" },
    element("h2", { id: "maxima" }, maximaText(data)), ...notes, chart.element,
    element("p", { class: "status" }, "Wheel, W and S: zoom. Drag, A and D: " +
      "move. Arrow keys: the next point. Home: the peak. 0 or a double click: " +
      "all."), memoryRows("rows-0", pool)));
  addEventListener("themechange", () => chart.draw());
});
