// Helpers that create and change elements, and format numbers; the light and dark theme.

const SVG = "http://www.w3.org/2000/svg";
const THEME_KEY = "alphazero-theme";

/** Create an HTML element; functions among `attributes` become listeners. */
export function make(tag, attributes = {}, ...children) {
  return setAttributes(document.createElement(tag), attributes, children);
}

/** Create an SVG element. */
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

/** Create an SVG circle around {x, y}. */
export const makeCircle = (kind, { x, y }, r, more = {}) =>
  makeSvg("circle", { class: kind, cx: x, cy: y, r, ...more });

/** Create an SVG square around {x, y}. */
export const makeSquare = (kind, { x, y }, half, more = {}) => makeSvg("rect", {
  class: kind, x: x - half, y: y - half, width: 2 * half, height: 2 * half, ...more,
});

export const byId = (id) => document.getElementById(id);

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
  const hadFocus = list.contains(document.activeElement);
  while (list.children.length > count) list.lastElementChild.remove();
  if (hadFocus && !list.contains(document.activeElement)) byId("status").focus();
  while (list.children.length < count) list.append(makeOne(list.children.length));
}

/** Show a button for each item; `describe` returns its text, its action and its attributes. */
export function showButtons(box, items, describe) {
  box.hidden = items.length === 0;
  reuseChildren(box, items.length, () => make("button", { type: "button" }));
  items.forEach((item, index) => {
    const button = box.children[index];
    const { text, action, ...attributes } = describe(item, index);
    setText(button, text);
    button.onclick = action;
    for (const [name, value] of Object.entries(attributes)) setAttribute(button, name, value);
  });
}

/** Fill a select with [value, text] pairs, unless it has them, and choose one. */
export function setOptions(select, pairs, choice) {
  const key = JSON.stringify(pairs);
  if (select.dataset.key !== key) {
    select.dataset.key = key;
    select.replaceChildren(...pairs.map(([value, text]) => make("option", { value }, text)));
  }
  if (select.value !== choice) select.value = choice;
}

/** Format a share in [0, 1] as "43 %". */
export function percent(share) {
  if (share > 0 && share < 0.005) return "<1 %";
  return `${share < 1 ? Math.min(Math.round(100 * share), 99) : 100} %`;
}

/** Format a value in [-1, 1] as a win chance, "62 %"; draws count half. */
export const chance = (value) => percent((1 + value) / 2);

/** Format a count for a narrow column, as "12,345" or "1.2 M". */
export function count(number) {
  if (number >= 1e6) return `${(number / 1e6).toFixed(1)} M`;
  return Math.round(number).toLocaleString("en");
}

/** Return "1 simulation", "1,200 simulations". */
export const countSimulations = (number) => `${count(number)} simulation${number === 1 ? "" : "s"}`;

/** Return what the browser keeps in `localStorage` or `sessionStorage`, or null, as where it keeps nothing. */
export function recall(storage, key) {
  try {
    return window[storage].getItem(key);
  } catch {
    return null;
  }
}

/** Keep a text, if the browser allows it. */
export function remember(storage, key, text) {
  try {
    window[storage].setItem(key, text);
  } catch {
    // Then it is forgotten with the page.
  }
}

/** Make `button` the switch of the theme, which is that of the system until it is pressed. */
export function followTheme(button) {
  const root = document.documentElement;
  const system = matchMedia("(prefers-color-scheme: dark)");
  let chosen = recall("localStorage", THEME_KEY);
  const show = () => {
    const theme = chosen ?? (system.matches ? "dark" : "light");
    const isDark = theme === "dark";
    root.dataset.theme = theme;
    button.textContent = isDark ? "☀" : "☾";
    button.title = button.ariaLabel = isDark ? "Light colours" : "Dark colours";
  };
  button.addEventListener("click", () => {
    chosen = root.dataset.theme === "dark" ? "light" : "dark";
    remember("localStorage", THEME_KEY, chosen);
    show();
  });
  system.addEventListener("change", show);
  show();
}
