// Making and changing elements, and writing numbers: what every other file needs.

const SVG = "http://www.w3.org/2000/svg";

/** Make an HTML element; functions among `attributes` become listeners. */
export function make(tag, attributes = {}, ...children) {
  return dress(document.createElement(tag), attributes, children);
}

/** Make an SVG element. */
export function makeSvg(tag, attributes = {}, ...children) {
  return dress(document.createElementNS(SVG, tag), attributes, children);
}

function dress(element, attributes, children) {
  for (const [name, value] of Object.entries(attributes)) {
    if (typeof value === "function") element.addEventListener(name, value);
    else element.setAttribute(name, value);
  }
  element.append(...children);
  return element;
}

/** Return the element with this id, which index.html promises. */
export function byId(id) {
  return document.getElementById(id);
}

/** Change a text only where it differs, so that screen readers hear what is new and no more. */
export function setText(element, text) {
  if (element.textContent !== text) element.textContent = text;
}

/** The same for an attribute. */
export function setAttribute(element, name, value) {
  if (element.getAttribute(name) !== String(value)) element.setAttribute(name, value);
}

/**
 * Let a button be used or not. It keeps the focus either way, which `disabled` would take from
 * somebody who uses the keyboard; `press` is what asks whether it may.
 */
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
 * Give a list as many children as there are items, keeping those it has. Where the one with the
 * focus has to go, the focus goes to the status line: nobody is thrown back to the page's top.
 */
export function match(list, count, makeOne) {
  const focused = document.activeElement;
  const hadFocus = list.contains(focused);
  while (list.children.length > count) list.lastElementChild.remove();
  if (hadFocus && !list.contains(focused)) byId("status").focus();
  while (list.children.length < count) list.append(makeOne(list.children.length));
}

/** Fill a select with [value, text] pairs, and choose one; nothing happens when it has them. */
export function setOptions(select, pairs, chosen) {
  const key = JSON.stringify(pairs);
  if (select.dataset.key !== key) {
    select.dataset.key = key;
    select.replaceChildren(...pairs.map(([value, text]) => make("option", { value }, text)));
  }
  if (chosen !== undefined && select.value !== chosen) select.value = chosen;
}

/** Write a share from 0 to 1 as "43 %". */
export function percent(share) {
  if (share > 0 && share < 0.005) return "<1 %";
  return `${Math.round(100 * share)} %`;
}

/** Write a value from -1 to 1 as "+0.24". */
export function signed(value) {
  const digits = Math.abs(value).toFixed(2);
  if (Number(digits) === 0) return "0.00";
  return (value < 0 ? "−" : "+") + digits;
}

/** Write a count as "12,345" or "1.2 M", which fits a narrow column. */
export function count(number) {
  if (number >= 1e6) return `${(number / 1e6).toFixed(1)} M`;
  return Math.round(number).toLocaleString("en");
}

/** Write a game's name in words: `gomoku:rows=8,columns=8` is "Gomoku (rows 8, columns 8)". */
export function title(name) {
  const [game, options] = name.replaceAll("_", " ").split(":");
  const told = options ? ` (${options.replaceAll("=", " ").replaceAll(",", ", ")})` : "";
  return game.charAt(0).toUpperCase() + game.slice(1) + told;
}
