// format.js - numbers and names as people read them.

const NS_UNITS = [
  [1, "ns"], [1e3, "µs"], [1e6, "ms"], [1e9, "s"],
];
const BYTE_UNITS = [
  [1, "B"], [1024, "KiB"], [1048576, "MiB"], [1073741824, "GiB"],
];

/**
 * Three digits or more, in the largest unit that gives at least 1.
 * @param {number} value
 * @param {(number | string)[][]} units
 */
function inUnits(value, units) {
  const size = Math.abs(value);
  let unit = units[0];
  for (const next of units) {
    // What rounds to a whole one of the next unit is in that unit.
    const whole = Number(next[0]);
    if (size >= whole - Number(unit[0]) / 2) unit = next;
  }
  const scaled = value / Number(unit[0]);
  const digits = unit === units[0] || Math.abs(scaled) >= 100 ? 0
    : Math.abs(scaled) >= 10 ? 1 : 2;
  return `${scaled.toFixed(digits)} ${unit[1]}`;
}

/** @param {number} ns */
export function timeText(ns) {
  const size = Math.abs(ns);
  if (size >= 172800e9) return `${(ns / 86400e9).toFixed(1)} days`;
  if (size >= 600e9) {
    const seconds = Math.round(size / 1e9);
    const text = `${Math.floor(seconds / 60)} min ${seconds % 60} s`;
    return ns < 0 ? `-${text}` : text;
  }
  return inUnits(ns, NS_UNITS);
}

/** @param {number} bytes */
export function bytesText(bytes) {
  return inUnits(bytes, BYTE_UNITS);
}

/** @param {number} count */
export function countText(count) {
  return Number.isInteger(count) && Math.abs(count) < 1e15
    ? count.toLocaleString("en-US")
    : String(Number(count.toPrecision(6)));
}

/** @param {number} part @param {number} whole */
export function shareText(part, whole) {
  return whole > 0 ? `${(100 * part / whole).toFixed(1)} %` : "-";
}

const HOUR = 3600e9;
const DAY = 24 * HOUR;

/**
 * Distances of ticks: 1, 2 or 5 times a power of ten; of long times, whole
 * parts of a day, or days.
 * @param {number} span
 * @param {number} most
 * @returns {number}
 */
export function tickStep(span, most) {
  const least = Math.max(span / Math.max(most, 1), 1);
  if (least > 500e9) {
    for (const hours of [0.5, 1, 2, 6, 12, 24]) {
      if (hours * HOUR >= least) return hours * HOUR;
    }
    return DAY * tickStep(least / DAY, 1);
  }
  const power = 10 ** Math.floor(Math.log10(least));
  for (const factor of [1, 2, 5]) {
    if (power * factor >= least) return power * factor;
  }
  return power * 10;
}

/**
 * A moment for an axis whose ticks are `step` apart.
 * @param {number} ns @param {number} step
 */
export function tickText(ns, step) {
  if (step >= DAY) return `${Math.round(ns / DAY)} d`;
  if (step >= HOUR / 2) return `${Number((ns / HOUR).toFixed(1))} h`;
  let unit = NS_UNITS[0];
  for (const next of NS_UNITS) if (step >= Number(next[0])) unit = next;
  if (Math.abs(ns) >= 1e9 && step >= 1e6) unit = NS_UNITS[3];
  const size = Number(unit[0]);
  const digits = Math.max(0, Math.ceil(-Math.log10(step / size) - 1e-9));
  return `${(ns / size).toFixed(Math.min(digits, 9))} ${unit[1]}`;
}

const HIDDEN =
  // eslint-disable-next-line no-control-regex
  /[\u0000-\u001f\u007f\u0080-\u009f\u061c\u200b-\u200f\u2028-\u202e\u2060-\u2069\ufeff]/g;

/**
 * A name of the target on one line. Characters that cannot be seen, or that
 * would turn the text around them, appear as what they are.
 * @param {string} text
 */
export function visible(text) {
  return text.replace(HIDDEN, (found) => {
    const code = found.charCodeAt(0);
    if (code < 0x20) return String.fromCharCode(0x2400 + code);
    return `‹U+${code.toString(16).toUpperCase().padStart(4, "0")}›`;
  });
}

/**
 * The last part of a path.
 * @param {string} path
 */
export function baseName(path) {
  return path.slice(path.lastIndexOf("/") + 1);
}
