// table.js - tables that sort, filter and copy.
import { bytesText, countText, shareText, timeText, visible } from "./format.js";
import { button, copyText, element, field } from "./view.js";

/**
 * @typedef {"text" | "ns" | "bytes" | "count" | "share" | "change"} Kind
 *   share: of 1; change: ns with a sign
 * @typedef {{ title: string, kind: Kind, value: (row: any) => any,
 *   note?: string }} Column
 */

const FIRST_ROWS = 100;
const MORE_ROWS = 1000;
const MOST_CHARACTERS = 1000;  // of a cell

/**
 * Whether a cell is empty; such rows come last.
 * @param {any} value
 */
function isMissing(value) {
  return value === null || value === undefined;
}

/** @param {Kind} kind @param {any} value */
function cellText(kind, value) {
  if (isMissing(value)) return "";
  switch (kind) {
    case "ns": return timeText(value);
    case "bytes": return bytesText(value);
    case "count": return countText(value);
    case "share": return shareText(value, 1);
    case "change": return value > 0 ? `+${timeText(value)}` : timeText(value);
    default: break;
  }
  const text = String(value);
  return visible(text.length <= MOST_CHARACTERS ? text
    : `${text.slice(0, MOST_CHARACTERS)}…`);
}

/** @param {any} value */
function csvCell(value) {
  const text = isMissing(value) ? "" : String(value);
  return /[",\n\r]/.test(text) ? `"${text.replaceAll('"', '""')}"` : text;
}

/**
 * A table with its caption, filter and buttons.
 * @param {{ id: string, caption: string, columns: Column[], rows: any[],
 *   sortBy?: number, of?: number, open?: (row: any) => void }} options sortBy:
 *   the column that sorts, descending; of: the rows are the first of so many,
 *   in this order, and have no filter; open: what a click on a row's name does
 */
export function makeTable({ id, caption, columns, rows, sortBy, of, open }) {
  let order = sortBy === undefined ? -1 : sortBy;
  let ascending = false;
  let most = FIRST_ROWS;
  let wanted = "";
  const filter = field("Filter", { type: "search", class: "filter" });
  const body = element("tbody");
  const more = button("", "Show more rows", () => {
    most += MORE_ROWS;
    draw();
  });
  const heads = columns.map((column, i) => {
    const head = element("button", {
      type: "button", title: column.note,
      click: () => {
        ascending = order === i ? !ascending : column.kind === "text";
        order = i;
        draw();
      },
    }, column.title);
    return element("th", { scope: "col", class: column.kind }, head);
  });

  function shownRows() {
    const texts = columns.filter((column) => column.kind === "text");
    const kept = wanted === "" ? rows.slice() : rows.filter((row) =>
      texts.some((column) =>
        String(column.value(row)).toLowerCase().includes(wanted)));
    if (order >= 0) {
      const { value } = columns[order];
      const sign = ascending ? 1 : -1;
      kept.sort((a, b) => {
        const [x, y] = [value(a), value(b)];
        if (isMissing(x) || isMissing(y)) {
          return Number(isMissing(x)) - Number(isMissing(y));
        }
        return x === y ? 0 : (x < y ? -1 : 1) * sign;
      });
    }
    return kept;
  }

  function draw() {
    const kept = shownRows();
    heads.forEach((head, i) => head.setAttribute("aria-sort",
      i !== order ? "none" : ascending ? "ascending" : "descending"));
    body.replaceChildren();
    for (const row of kept.slice(0, most)) {
      body.append(element("tr", {}, ...columns.map((column, i) => {
        const value = column.value(row);
        const text = cellText(column.kind, value);
        const content = open && i === 0
          ? element("button", { type: "button", class: "link",
            click: () => open(row) }, element("bdi", {}, text))
          : column.kind === "text" ? element("bdi", {}, text) : text;
        const attributes = column.kind === "text" ? { title: text }
          : { "data-value": value };
        return element(i === 0 ? "th" : "td",
          { class: column.kind, scope: i === 0 ? "row" : undefined,
            ...attributes }, content);
      })));
    }
    more.hidden = kept.length <= most;
    more.textContent = `Show ${countText(Math.min(MORE_ROWS,
      kept.length - most))} more of ${countText(kept.length)} rows`;
  }

  filter.addEventListener("input", () => {
    wanted = filter.value.toLowerCase();
    draw();
  });
  const copy = button("Copy CSV", "Copy these rows as CSV", () => {
    const lines = [columns.map((column) => csvCell(
      column.kind === "ns" || column.kind === "bytes"
        ? `${column.title} (${column.kind})`
        : column.kind === "change" ? `${column.title} (ns)` : column.title))];
    for (const row of shownRows()) {
      lines.push(columns.map((column) => csvCell(column.value(row))));
    }
    copyText(lines.map((line) => line.join(",")).join("\n") + "\n",
      `${lines.length - 1} rows`);
  });
  /**
   * Shows a row.
   * @param {any} row one of `rows`
   */
  function showRow(row) {
    const find = () => shownRows().indexOf(row);
    filter.value = wanted = "";
    most = Math.max(most, find() + 1);
    draw();
    const line = body.children[find()];
    if (!line) return;
    line.classList.add("found");
    line.scrollIntoView({ block: "center" });
    /** @type {HTMLElement | null} */ (line.querySelector("button"))?.focus();
  }
  draw();
  return element("section", { class: "table", id,
    showrow: (/** @type {CustomEvent} */ { detail }) => showRow(detail) },
    element("div", { class: "bar" }, element("h2", {}, of === undefined ||
      of <= rows.length ? caption
      : `${caption} (${rows.length} of ${countText(of)})`),
    ...(of === undefined ? [filter] : []), copy),
    element("div", { class: "scroll", tabindex: "0", role: "region",
      "aria-label": caption },
    element("table", {}, element("caption", { class: "unseen" }, caption),
      element("thead", {}, element("tr", {}, ...heads)), body)),
    more);
}
