// main.js - the views of the page, and the links into them.
import { Trace } from "./data.js";
import { diffView } from "./diff.js";
import { eventOfEvidence, placeOfRow, trackOfEvidence } from "./findings.js";
import { timeText, visible } from "./format.js";
import { graphView, intervalView, memorySources, selfNote, timeSources }
  from "./graphs.js";
import { commandOf, functionTable, operationTable, summaryView }
  from "./summary.js";
import { pressKey } from "./keys.js";
import { loadTrace } from "./load.js";
import { memoryView } from "./memory.js";
import { jobView, ranksView } from "./ranks.js";
import { startPage } from "./start.js";
import { Timeline } from "./timeline.js";
import { element } from "./view.js";
import { waitsView } from "./waits.js";

/** @typedef {import("./findings.js").Finding} Finding */
/** @typedef {import("./findings.js").Evidence} Evidence */
/** @typedef {{ id: string, title: string, make: () => HTMLElement }} View */

class Page {
  /** @param {Trace} trace @param {Trace | null} before what it is compared with */
  constructor(trace, before) {
    this.trace = trace;
    this.before = before;
    /** @type {Timeline | null} made when it is first needed */
    this.madeTimeline = null;
    this.interval = element("div");
    this.shown = "";
    this.placeTimer = 0;
    this.views = this.makeViews();
    // The folder of the program is on the first screen.
    const command = visible(commandOf(trace.summary).replace(/^\S*\//, ""));
    const heading = document.getElementById("command");
    if (heading) heading.textContent = command;
    if (command) document.title = `${command} - Kymo`;
    this.tabs = this.views.map((view) => element("button", {
      type: "button", role: "tab", id: `tab-${view.id}`,
      "aria-controls": `view-${view.id}`,
      click: () => this.show(view.id),
      keydown: (/** @type {KeyboardEvent} */ event) => this.moveTab(event),
    }, view.title));
    this.panels = this.views.map((view) => {
      const panel = element("section", { role: "tabpanel", tabindex: "-1",
        id: `view-${view.id}`, "aria-labelledby": `tab-${view.id}` });
      panel.hidden = true;
      return panel;
    });
    document.getElementById("tabs")?.append(...this.tabs);
    document.getElementById("main")?.append(...this.panels);
    addEventListener("hashchange", () => this.goToPlace());
    addEventListener("beforeprint", () => this.showAll());
    addEventListener("afterprint", () => this.show(this.shown));
    this.goToPlace();
  }

  get timeline() {
    if (this.madeTimeline) return this.madeTimeline;
    const timeline = this.madeTimeline = new Timeline(this.trace, {
      moved: () => this.keepPlace(),
      selected: () => {
        this.showInterval();
        this.keepPlace();
      },
    });
    timeline.element.append(this.interval);
    // The picture first. What was selected meanwhile is shown already.
    setTimeout(() => {
      if (!this.interval.hasChildNodes()) this.showInterval();
    });
    return timeline;
  }

  /** @returns {View[]} */
  makeViews() {
    const { trace } = this;
    const search = (/** @type {any} */ row) => this.search(row.name);
    const searchGraph = (/** @type {any} */ row) => this.searchGraph(row.name);
    const openPlace = (/** @type {any} */ row) => this.showStack(
      [...row.stack, `[${row.kind} wait${row.is_idle ? ", idle" : ""}]`],
      row.wait_ns, false, row.where,
      row.isSum && row.stack.includes(row.where));
    const views = [
      { id: "summary", title: "Summary", make: () => summaryView(trace,
        { openOperation: search, openFunction: searchGraph, openPlace,
          openEvidence: (finding, evidence) =>
            this.showEvidence(finding, evidence) }) },
      { id: "timeline", title: "Timeline", make: () => this.timeline.element },
      { id: "flame", title: "Flame graphs", make: () => element("div", {},
        ...selfNote(trace, "the graph of ranges gives"),
        graphView("graph", [...timeSources(trace, -Infinity, Infinity),
          ...memorySources(trace)])) },
      { id: "operations", title: "Operations", make: () =>
        operationTable(trace.summary, "operations", search) },
    ];
    const { job, ranks } = trace.summary;
    if (ranks) {
      views.push({ id: "ranks", title: "Ranks", make: () =>
        ranksView(trace.summary) });
    }
    if (job) {
      views.push({ id: "job", title: "All ranks", make: () => jobView(job) });
    }
    const { before } = this;
    if (before) {
      views.unshift({ id: "diff", title: "Comparison",
        make: () => diffView(before, trace) });
    }
    if ((trace.summary.sampled_functions || []).length > 0) {
      views.push({ id: "functions", title: "Functions", make: () =>
        functionTable(trace.summary, "functions", searchGraph) });
    }
    const { waits } = trace.summary;
    if (waits) {
      views.push({ id: "waits", title: "Waits", make: () => waitsView(
        trace.summary, { openRange: search, openPlace }) });
    }
    if (trace.memoryPools.length > 0) {
      views.push({ id: "memory", title: "Memory", make: () => memoryView(trace,
        { openTime: (time) => this.showMoment(time),
          openStack: (row) => this.showStack(row.stack || [], row.bytes, true),
          openFunction: (row) => this.showStack([row.function || ""], row.bytes,
            true, row.function || "", true) }) });
    }
    return views;
  }

  /**
   * Shows a name in the timeline.
   * @param {string} name
   */
  search(name) {
    this.show("timeline");
    const isStep = name === "ProfilerStep*";
    const text = isStep ? "ProfilerStep#" : name;
    this.timeline.searchField.value = text;
    this.timeline.find(text, !isStep);
    this.timeline.nextMatch(1);
  }

  /**
   * Shows a function in the flame graph.
   * @param {string} name
   */
  searchGraph(name) {
    this.show("flame");
    const field = /** @type {HTMLInputElement | null} */ (
      document.querySelector("#graph input[type=search]"));
    if (!field) return;
    field.value = name;
    field.dispatchEvent(new CustomEvent("searchname", { detail: name }));
  }

  /**
   * Goes to what a finding is based on.
   * @param {Finding} finding @param {Evidence} evidence
   */
  showEvidence(finding, evidence) {
    const { name = "", frames = name ? [name] : [] } = evidence;
    if (evidence.kind === "stack") {
      const isMemory = evidence.table === "memory";
      // Of allocations that took time, the graph of all bytes is the largest.
      this.showStack(frames, isMemory ? finding.bytes ?? Number.MAX_SAFE_INTEGER
        : finding.time_ns || 0, isMemory, name);
      return;
    }
    if (evidence.kind === "row" || evidence.kind === "counter") {
      this.showRow(evidence);
      return;
    }
    this.show("timeline");
    const event = evidence.kind === "event"
      ? eventOfEvidence(this.trace, evidence) : -1;
    if (event >= 0) {
      this.timeline.clear();
      this.timeline.goTo(event);
    } else {
      const { begin_ns: begin = 0, duration_ns: duration = 0 } = evidence;
      this.timeline.goToInterval(trackOfEvidence(this.trace, evidence), begin,
        begin + duration);
      if (["waits", "locks"].includes(evidence.table || "")) {
        this.showInterval(true);
      }
    }
    this.timeline.canvas.focus();
  }

  /**
   * Shows what happened around a moment.
   * @param {number} time
   */
  showMoment(time) {
    this.show("timeline");
    const { span } = this.timeline;
    this.timeline.view(time - span / 20, time + span / 20);
    this.timeline.canvas.focus();
  }

  /**
   * Shows a stack in the flame graph where it weighs most nearly so much.
   * @param {string[]} frames @param {number} weight @param {boolean} isMemory
   * @param {string} name what to search if no graph has the stack
   * @param {boolean} isOneOfMany then the name is searched all the same
   */
  showStack(frames, weight, isMemory, name = frames[0] || "",
    isOneOfMany = false) {
    this.show("flame");
    document.getElementById("graph")?.dispatchEvent(new CustomEvent(
      "showstack",
      { detail: { frames, weight, isMemory, name, isOneOfMany } }));
  }

  /**
   * Shows the row of a table.
   * @param {Evidence} evidence
   */
  showRow(evidence) {
    const place = placeOfRow(this.trace, evidence);
    if (!place) return;
    this.show(place.view);
    document.getElementById(place.id)?.dispatchEvent(
      new CustomEvent("showrow", { detail: place.row }));
  }

  /**
   * Makes a view when it is first needed.
   * @param {string} id
   */
  fill(id) {
    const at = this.views.findIndex((view) => view.id === id);
    if (this.panels[at].childElementCount === 0) {
      this.panels[at].append(this.views[at].make());
    }
  }

  /** All views, one below the other, for the printer. */
  showAll() {
    for (const panel of this.panels) panel.hidden = false;
    for (const view of this.views) this.fill(view.id);
    this.showInterval();
    this.redraw();
  }

  /** Draws every picture now. */
  redraw() {
    this.madeTimeline?.drawNow();
    for (const graph of document.querySelectorAll(".flame-graph")) {
      graph.dispatchEvent(new Event("redraw"));
    }
  }

  /** @param {string} id */
  show(id) {
    this.shown = id;
    this.views.forEach((view, i) => {
      const isShown = view.id === id;
      this.panels[i].hidden = !isShown;
      this.tabs[i].setAttribute("aria-selected", String(isShown));
      this.tabs[i].setAttribute("tabindex", isShown ? "0" : "-1");
      if (isShown) this.tabs[i].scrollIntoView({ block: "nearest" });
    });
    this.fill(id);
    if (id === "timeline") this.timeline.draw();
    this.keepPlace();
  }

  /** @param {KeyboardEvent} event */
  moveTab(event) {
    const step = event.key === "ArrowRight" ? 1
      : event.key === "ArrowLeft" ? -1 : 0;
    if (step === 0) {
      // After a click on the tab, the timeline's letters work at once.
      if (this.shown === "timeline" && /^[a-z0+/-]$/i.test(event.key)) {
        pressKey(this.timeline, event);
      }
      return;
    }
    const at = this.tabs.findIndex((tab) => tab === event.target) + step;
    const tab = this.tabs[(at + this.tabs.length) % this.tabs.length];
    tab.focus();
    tab.click();
  }

  /** The table and the flame graph of what is selected. */
  showInterval(waitsFirst = false) {
    const { span, painter: { selection } } = this.timeline;
    const [from, to] = selection || [-Infinity, Infinity];
    // What happened in the last moment is in an interval that ends there.
    const before = to >= span ? Infinity : to;
    this.interval.replaceChildren(intervalView(this.trace, from, before,
      selection ? `Selected: ${timeText(to - from)} from ${timeText(from)}`
        : "The whole time", (name) => this.search(name), waitsFirst));
  }

  /** The address says what is shown, so that it can be passed on. */
  keepPlace() {
    clearTimeout(this.placeTimer);
    this.placeTimer = window.setTimeout(() => {
      const parts = [`v=${this.shown}`];
      if (!this.madeTimeline) {
        history.replaceState(null, "", `#${parts[0]}`);
        return;
      }
      const { from, to, span, painter } = this.madeTimeline;
      if (from !== 0 || to !== span) {
        parts.push(`t=${Math.round(from)},${Math.round(to)}`);
      }
      if (painter.selection) {
        parts.push(`s=${painter.selection.map(Math.round).join(",")}`);
      }
      if (painter.chosen && painter.chosen.line.kind === "ranges") {
        parts.push(`e=${painter.chosen.item}`);
      }
      history.replaceState(null, "", `#${parts.join("&")}`);
    }, 200);
  }

  goToPlace() {
    const place = new URLSearchParams(location.hash.slice(1));
    /** @param {string} key @returns {[number, number] | null} */
    const interval = (key) => {
      const [from, to] = (place.get(key) || "").split(",").map(Number);
      return to > from ? [from, to] : null;
    };
    const seen = interval("t");
    const selected = interval("s");
    const event = place.get("e");
    const first = this.views[0].id;
    const wanted = place.get("v") || (seen || selected || event
      ? "timeline" : first);
    this.show(this.views.some((view) => view.id === wanted) ? wanted : first);
    if (this.madeTimeline || seen || selected || event) {
      // What the link does not say is as in a page that was just opened.
      this.timeline.clear();
      this.timeline.view(0, this.timeline.span);
    }
    if (event !== null && Number(event) < this.trace.starts.length) {
      this.timeline.goTo(Number(event));
    }
    if (seen) this.timeline.view(...seen);
    if (selected) this.timeline.select(...selected);
    if (this.shown === "timeline") {
      this.timeline.canvas.focus({ preventScroll: true });  // for its keys
    }
  }
}

startPage(async (data) => {
  const before = document.getElementById("data-before");
  const page = new Page(await loadTrace(data),
    before ? await loadTrace(before) : null);
  addEventListener("themechange", () => page.redraw());
});
