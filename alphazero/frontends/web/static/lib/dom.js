// Helpers that create and change elements and format numbers.

const SVG = "http://www.w3.org/2000/svg";

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

/** Format a share in [0, 1] as "43 %". */
export function percent(share) {
  if (share > 0 && share < 0.005) return "<1 %";
  return `${Math.round(100 * share)} %`;
}

/** Format a value in [-1, 1] as "+0.24". */
export function signed(value) {
  const digits = Math.abs(value).toFixed(2);
  if (Number(digits) === 0) return "0.00";
  return (value < 0 ? "−" : "+") + digits;
}

/** Format a count for a narrow column, as "12,345" or "1.2 M". */
export function count(number) {
  if (number >= 1e6) return `${(number / 1e6).toFixed(1)} M`;
  return Math.round(number).toLocaleString("en");
}

/** Format a game's name: `gomoku:rows=8,columns=8` as "Gomoku (rows 8, columns 8)". */
export function title(name) {
  const [game, options] = name.replaceAll("_", " ").split(":");
  const suffix = options ? ` (${options.replaceAll("=", " ").replaceAll(",", ", ")})` : "";
  return game.charAt(0).toUpperCase() + game.slice(1) + suffix;
}
