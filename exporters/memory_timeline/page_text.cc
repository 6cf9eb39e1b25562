#include "exporters/memory_timeline/page_text.h"

namespace kymo::memory_timeline {

std::string_view PageBeforeData() {
  return R"page(<!DOCTYPE html>
<html lang="en">
<head>
<meta charset="utf-8">
<title>Memory timeline</title>
<style>
body { font: 14px sans-serif; margin: 16px; color: #222; background: #fff; }
h1 { font-size: 18px; margin: 0 0 4px; }
#legend span { margin-right: 16px; white-space: nowrap; }
#legend i { display: inline-block; width: 12px; height: 12px;
            margin-right: 4px; vertical-align: -1px; }
#chart { width: 100%; height: 65vh; min-height: 240px; cursor: crosshair;
         touch-action: none; display: block; margin: 8px 0; }
#tip { position: fixed; display: none; pointer-events: none; padding: 6px 8px;
       background: #fffffff0; border: 1px solid #999; white-space: pre;
       font: 12px monospace; }
</style>
</head>
<body>
<h1 id="title"></h1>
<div id="maxima"></div>
<canvas id="chart"></canvas>
<div id="legend"></div>
<p>Wheel: zoom. Drag: move. Double click: show all. <span id="note"></span></p>
<div id="tip"></div>
<script type="application/json" id="data">
)page";
}

std::string_view PageAfterData() {
  return R"page(
</script>
<script>
"use strict";
const element = (id) => document.getElementById(id);
const data = JSON.parse(element("data").textContent);
const times = data.times_us;
const chart = element("chart");
const tip = element("tip");
const all = {begin: 0, end: Math.max(data.end_us, 1)};
let view = {...all};
let dragFrom = null;  // {x, view} while the button is down

const sum = (row) => row.reduce((a, b) => a + b, 0);
const clamp = (value, low, high) => Math.min(Math.max(value, low), high);

function unitOf(bytes) {
  if (bytes >= 2 ** 30) return {name: "GiB", bytes: 2 ** 30};
  if (bytes >= 2 ** 20) return {name: "MiB", bytes: 2 ** 20};
  if (bytes >= 2 ** 10) return {name: "KiB", bytes: 2 ** 10};
  return {name: "B", bytes: 1};
}

function bytesText(bytes) {
  const unit = unitOf(Math.abs(bytes));
  return (bytes / unit.bytes).toFixed(unit.bytes === 1 ? 0 : 2) + " " +
      unit.name;
}

// The least of 1, 2 and 5 times a power of ten that is not below `value`.
function niceStep(value) {
  const power = 10 ** Math.floor(Math.log10(value));
  return [1, 2, 5, 10].map((n) => n * power).find((step) => step >= value);
}

// Multiples of a nice step within [low, high], about `count` of them.
function ticks(low, high, count) {
  const step = niceStep((high - low) / count);
  const result = [];
  for (let i = Math.ceil(low / step); i * step <= high; ++i) {
    result.push(i * step);
  }
  const decimals = Math.max(0, -Math.floor(Math.log10(step) + 1e-9));
  return {values: result, text: (value) => value.toFixed(decimals)};
}

// The last point that is not after `us`; -1 if there is none.
function pointAt(us) {
  let low = -1;
  let high = times.length;
  while (high - low > 1) {
    const middle = (low + high) >> 1;
    if (times[middle] <= us) low = middle; else high = middle;
  }
  return low;
}

// Where the chart is, in CSS pixels.
function area() {
  const box = chart.getBoundingClientRect();
  return {left: 80, top: 8, right: Math.max(box.width - 16, 81),
          bottom: Math.max(box.height - 40, 9)};
}
function usAt(x, at) {
  const part = (x - at.left) / (at.right - at.left);
  return view.begin + part * (view.end - view.begin);
}

function drawAxes(context, at, xOf, yOf, most) {
  context.fillStyle = "#222";
  context.strokeStyle = "#0002";
  context.font = "12px sans-serif";
  const line = (x1, y1, x2, y2) => {
    context.beginPath();
    context.moveTo(x1, y1);
    context.lineTo(x2, y2);
    context.stroke();
  };
  context.textAlign = "center";
  const ms = ticks(view.begin / 1000, view.end / 1000, 8);
  for (const value of ms.values) {
    const x = xOf(value * 1000);
    line(x, at.top, x, at.bottom);
    context.fillText(ms.text(value), x, at.bottom + 16);
  }
  context.fillText("Time (ms)", (at.left + at.right) / 2, at.bottom + 34);
  context.textAlign = "right";
  const unit = unitOf(most);
  const memory = ticks(0, most / unit.bytes, 6);
  for (const value of memory.values) {
    const y = yOf(value * unit.bytes);
    line(at.left, y, at.right, y);
    context.fillText(memory.text(value), at.left - 6, y + 4);
  }
  context.save();
  context.translate(16, (at.top + at.bottom) / 2);
  context.rotate(-Math.PI / 2);
  context.textAlign = "center";
  context.fillText("Memory (" + unit.name + ")", 0, 0);
  context.restore();
}

// One category's area, in steps, on top of the categories before it.
function drawCategory(context, category, first, last, xOf, yOf) {
  const step = (i, value) => {
    context.lineTo(xOf(Math.max(times[i], view.begin)), yOf(value));
    context.lineTo(xOf(i < last ? times[i + 1] : view.end), yOf(value));
  };
  const below = (i) => sum(data.bytes[i].slice(0, category));
  context.beginPath();
  for (let i = first; i <= last; ++i) {
    step(i, below(i) + data.bytes[i][category]);
  }
  for (let i = last; i >= first; --i) {
    context.lineTo(xOf(i < last ? times[i + 1] : view.end), yOf(below(i)));
    context.lineTo(xOf(Math.max(times[i], view.begin)), yOf(below(i)));
  }
  context.closePath();
  context.fillStyle = data.categories[category].color;
  context.fill();
}

function draw() {
  const box = chart.getBoundingClientRect();
  const scale = window.devicePixelRatio || 1;
  chart.width = box.width * scale;
  chart.height = box.height * scale;
  const context = chart.getContext("2d");
  context.scale(scale, scale);
  const at = area();
  const first = Math.max(pointAt(view.begin), 0);
  const last = pointAt(view.end);
  let most = 1;
  for (let i = first; i <= last; ++i) {
    most = Math.max(most, sum(data.bytes[i]));
  }
  most *= 1.05;
  const xOf = (us) => at.left + (at.right - at.left) * (us - view.begin) /
      (view.end - view.begin);
  const yOf = (bytes) => at.bottom - (at.bottom - at.top) * bytes / most;
  context.save();
  context.beginPath();
  context.rect(at.left, at.top, at.right - at.left, at.bottom - at.top);
  context.clip();
  if (first <= last) {
    data.categories.forEach((_, category) => {
      if (data.bytes.some((row) => row[category] !== 0)) {
        drawCategory(context, category, first, last, xOf, yOf);
      }
    });
  }
  context.restore();
  drawAxes(context, at, xOf, yOf, most);
}

function show(begin, length) {
  const longest = all.end - all.begin;
  const wanted = clamp(length, Math.min(1, longest), longest);
  const from = clamp(begin, all.begin, all.end - wanted);
  view = {begin: from, end: from + wanted};
  draw();
}

function point(event) {
  const at = area();
  const us = usAt(event.offsetX, at);
  if (us < view.begin || us > view.end) {
    tip.style.display = "none";
    return;
  }
  const i = pointAt(us);
  const row = i < 0 ? [] : data.bytes[i];
  const lines = [(us / 1000).toFixed(3) + " ms", bytesText(sum(row))];
  row.forEach((bytes, category) => {
    if (bytes === 0) return;
    lines.push(data.categories[category].name + "  " + bytesText(bytes));
  });
  tip.textContent = lines.join("\n");
  tip.style.display = "block";
  tip.style.left = event.clientX + 12 + "px";
  tip.style.top = event.clientY + 12 + "px";
}

chart.addEventListener("wheel", (event) => {
  event.preventDefault();
  const us = usAt(event.offsetX, area());
  const factor = 1.002 ** event.deltaY;
  show(us - (us - view.begin) * factor, (view.end - view.begin) * factor);
});
chart.addEventListener("pointerdown", (event) => {
  chart.setPointerCapture(event.pointerId);
  dragFrom = {x: event.offsetX, view};
});
chart.addEventListener("pointermove", (event) => {
  if (dragFrom === null) return point(event);
  const at = area();
  const length = dragFrom.view.end - dragFrom.view.begin;
  const moved = (event.offsetX - dragFrom.x) / (at.right - at.left) * length;
  show(dragFrom.view.begin - moved, length);
});
chart.addEventListener("pointerup", () => { dragFrom = null; });
chart.addEventListener("pointercancel", () => { dragFrom = null; });
chart.addEventListener("pointerleave", () => { tip.style.display = "none"; });
chart.addEventListener("dblclick", () => show(all.begin, all.end - all.begin));
window.addEventListener("resize", draw);

element("title").textContent = "Memory timeline of " + data.device;
element("maxima").textContent =
    "Max memory allocated: " + bytesText(data.max_allocated) +
    (data.max_reserved > 0
        ? ", max memory reserved: " + bytesText(data.max_reserved) : "");
if (times.length < data.points) {
  element("note").textContent = times.length + " of " + data.points +
      " points are shown; peaks are among them.";
}
for (const category of data.categories) {
  const entry = document.createElement("span");
  const color = document.createElement("i");
  color.style.background = category.color;
  entry.append(color, category.name);
  element("legend").append(entry);
}
draw();
</script>
</body>
</html>
)page";
}

}  // namespace kymo::memory_timeline
