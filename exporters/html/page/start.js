// start.js - begins a page: light or dark, and what it says if its data cannot
// be read.
import { say } from "./view.js";

const PREFERS_DARK = matchMedia("(prefers-color-scheme: dark)");

/** @param {boolean} isDark */
function setTheme(isDark) {
  document.documentElement.dataset.theme = isDark ? "dark" : "light";
  dispatchEvent(new Event("themechange"));
}

/** As the system is, until somebody chooses. */
function listenToTheme() {
  const follow = () => setTheme(PREFERS_DARK.matches);
  follow();
  PREFERS_DARK.addEventListener("change", follow);
  document.getElementById("theme")?.addEventListener("click", () => {
    PREFERS_DARK.removeEventListener("change", follow);
    setTheme(document.documentElement.dataset.theme !== "dark");
  });
}

/**
 * Shows the page's data once the file has been read. Data come after the
 * script, so that it can say that they are cut.
 * @param {(data: Element) => Promise<void>} show
 */
export function startPage(show) {
  listenToTheme();
  document.addEventListener("DOMContentLoaded", async () => {
    if (!("DecompressionStream" in window)) {
      say("This browser cannot unpack the page's data. Chrome 80, Edge 80, " +
        "Firefox 113 and Safari 16.4 can, and all that are newer. The " +
        "numbers may also be in summary.json and key_averages.txt beside this " +
        "file.");
      return;
    }
    try {
      await show(/** @type {Element} */ (document.getElementById("data")));
      say("");
      document.documentElement.dataset.ready = "yes";
    } catch (error) {
      say("The data of this page cannot be read: the file may have been cut. " +
        `Copy it again, or make it anew. (${error})`);
    }
  });
}
