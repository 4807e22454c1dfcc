// Helpers that create and change elements, store choices and format numbers.

/** The end of the names of options in half points; people see points. */
export const HALF_POINTS = "_half_points";

const SVG = "http://www.w3.org/2000/svg";

/**
 * Create an HTML element; functions among `attributes` become listeners.
 * @param {string} tag
 * @param {Record<string, any>} attributes
 * @param {...(Node | string)} children
 * @returns {any} the element
 */
export function make(tag, attributes = {}, ...children) {
  return setAttributes(document.createElement(tag), attributes, children);
}

/**
 * Create an SVG element.
 * @param {string} tag
 * @param {Record<string, any>} attributes
 * @param {...(Node | string)} children
 * @returns {any} the element
 */
export function makeSvg(tag, attributes = {}, ...children) {
  return setAttributes(document.createElementNS(SVG, tag), attributes, children);
}

function setAttributes(element, attributes, children) {
  for (const [name, value] of Object.entries(attributes)) {
    if (typeof value === "function") element.addEventListener(name, value);
    else element.setAttribute(name, value);
  }
  element.append(...children);
  return element;
}

/**
 * @param {string} id
 * @returns {any} the element, of the kind that the page has there
 */
export function byId(id) {
  return document.getElementById(id);
}

/** Set a text only if it differs, so that screen readers announce only changes. */
export function setText(element, text) {
  if (element.textContent !== text) element.textContent = text;
}

/** Set an attribute only if it differs. */
export function setAttribute(element, name, value) {
  if (element.getAttribute(name) !== String(value)) element.setAttribute(name, value);
}

/** Enable or disable a button for `press`; it keeps the keyboard focus, unlike with `disabled`. */
export function setEnabled(button, enabled) {
  setAttribute(button, "aria-disabled", !enabled);
}

/** Call `action` when an enabled button is pressed. */
export function press(button, action) {
  button.addEventListener("click", () => {
    if (button.getAttribute("aria-disabled") !== "true") action();
  });
}

/**
 * Give a list `count` children and reuse those it has. If the focused one is removed, the focus
 * moves to the status line, not to the top of the page.
 */
export function reuseChildren(list, count, makeOne) {
  const focused = document.activeElement;
  const hadFocus = list.contains(focused);
  while (list.children.length > count) list.lastElementChild.remove();
  if (hadFocus && !list.contains(focused)) byId("status").focus();
  while (list.children.length < count) list.append(makeOne(list.children.length));
}

/** Fill a select with [value, text] pairs, unless it has them, and choose one. */
export function setOptions(select, pairs, chosen) {
  const key = JSON.stringify(pairs);
  if (select.dataset.key !== key) {
    select.dataset.key = key;
    select.replaceChildren(...pairs.map(([value, text]) => make("option", { value }, text)));
  }
  if (chosen !== undefined && select.value !== chosen) select.value = chosen;
}

/**
 * Store a choice if `value` is given, and return the stored one, or null. Without storage, as in some
 * private windows, a choice lasts for the page.
 * @param {string} key
 * @param {string} [value]
 */
export function stored(key, value) {
  try {
    if (value !== undefined) localStorage.setItem(key, value);
    return localStorage.getItem(key);
  } catch {
    return null;
  }
}

/** Format a share in [0, 1] as "43 %". */
export function percent(share) {
  if (share > 0 && share < 0.005) return "<1 %";
  return `${share < 1 ? Math.min(Math.round(100 * share), 99) : 100} %`;
}

/** Format a value in [-1, 1] as a win chance, "62 %"; draws count half. */
export function chance(value) {
  return percent((1 + value) / 2);
}

/** Format a count for a narrow column, as "12,345" or "1.2 M". */
export function count(number) {
  if (number >= 1e6) return `${(number / 1e6).toFixed(1)} M`;
  return Math.round(number).toLocaleString("en");
}

/** Format an option's name: `komi_half_points` as "Komi". */
export function optionTitle(name) {
  const words = name.replace(HALF_POINTS, "").replaceAll("_", " ");
  return words.charAt(0).toUpperCase() + words.slice(1);
}
