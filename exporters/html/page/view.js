// view.js - elements of the page. Texts go in as text, never as markup.

/**
 * An element with attributes and children. An attribute that is a function
 * listens to the event of its name.
 * @param {string} tag
 * @param {Record<string, any>} attributes
 * @param {...(Node | string)} children
 */
export function element(tag, attributes = {}, ...children) {
  const made = document.createElement(tag);
  for (const [name, value] of Object.entries(attributes)) {
    if (typeof value === "function") made.addEventListener(name, value);
    else if (value !== undefined) made.setAttribute(name, String(value));
  }
  made.append(...children);
  return made;
}

/**
 * A button that does one thing.
 * @param {string} text @param {string} label @param {() => void} action
 */
export function button(text, label, action) {
  return element("button", {
    type: "button", title: label, "aria-label": label, click: action,
  }, text);
}

/** @param {string} label @param {Record<string, any>} attributes */
export function field(label, attributes) {
  return /** @type {HTMLInputElement} */ (element("input", {
    "aria-label": label, placeholder: label, autocomplete: "off",
    spellcheck: "false", ...attributes,
  }));
}

/**
 * Puts a text on the clipboard, and says so.
 * @param {string} text @param {string} what
 */
export async function copyText(text, what) {
  try {
    await navigator.clipboard.writeText(text);
  } catch {
    // Browsers that give the clipboard to served pages alone.
    const area = /** @type {HTMLTextAreaElement} */ (element("textarea"));
    area.value = text;
    document.body.append(area);
    area.select();
    document.execCommand("copy");
    area.remove();
  }
  say(`Copied ${what}.`);
}

/**
 * Tells people, also those who cannot see the page.
 * @param {string} text
 */
export function say(text) {
  const line = document.getElementById("message");
  if (line) line.textContent = text;
}

/**
 * A canvas of one CSS pixel a unit, whatever the screen's pixels are.
 * @param {HTMLCanvasElement} canvas @param {number} width
 * @param {number} height
 */
export function prepareCanvas(canvas, width, height) {
  const ratio = window.devicePixelRatio || 1;
  if (canvas.width !== Math.round(width * ratio) ||
      canvas.height !== Math.round(height * ratio)) {
    canvas.width = Math.round(width * ratio);
    canvas.height = Math.round(height * ratio);
    canvas.style.width = `${width}px`;
    canvas.style.height = `${height}px`;
  }
  const context = /** @type {CanvasRenderingContext2D} */ (
    canvas.getContext("2d"));
  context.setTransform(ratio, 0, 0, ratio, 0, 0);
  return context;
}

/**
 * As much of a name as a box of this width shows.
 * @param {string} text
 * @param {number} width
 */
export function fitted(text, width) {
  const most = Math.max(Math.floor(width / 5.6), 2);
  return text.length <= most ? text : `${text.slice(0, most - 1)}…`;
}

// Colours of layers; the last is for what others hold.
export const LAYER_COUNT = 8;

/** The page's colours, from style.css. */
export function themeColours() {
  const style = getComputedStyle(document.documentElement);
  /** @param {string} name */
  const of = (name) => style.getPropertyValue(`--${name}`).trim();
  return {
    text: of("text"), faint: of("faint"), line: of("line"), page: of("page"),
    panel: of("panel"), accent: of("accent"), mark: of("mark"),
    dim: of("dim"), isDark: document.documentElement.dataset.theme === "dark",
    layers: Array.from({ length: LAYER_COUNT }, (_, i) => of(`layer-${i}`)),
  };
}

const HUES = [212, 28, 152, 338, 265, 48, 186, 8, 95, 240, 310, 170];

/**
 * A calm colour that a name always gets.
 * @param {string} name @param {boolean} isDark
 */
export function nameColour(name, isDark) {
  let hash = 2166136261;
  for (let i = 0; i < name.length && i < 64; ++i) {
    hash = Math.imul(hash ^ name.charCodeAt(i), 16777619);
  }
  hash ^= hash >>> 15;
  const hue = HUES[(hash >>> 0) % HUES.length] + ((hash >>> 8) % 13) - 6;
  const shade = (hash >>> 16) % 3;
  return isDark ? `hsl(${hue} 38% ${40 + 4 * shade}%)`
    : `hsl(${hue} 58% ${74 + 4 * shade}%)`;
}
