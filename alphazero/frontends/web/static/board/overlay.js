// The overlay of the board: tints and numbers of a search, or a line of play.

import { makeSvg, percent } from "../lib/dom.js";

/** Smaller shares, which round to 0, get a small ring: a dot would look like a star point. */
const MIN_NUMBERED_SHARE = 0.005;

/** Least ownership that is shaded, as in pictures. */
const MIN_SHADED_OWNERSHIP = 0.05;

/** Return the shapes of `layer` of a search result; the best move has a ring. */
export function drawLayer(board, result, layer) {
  const shapes = [];
  // A cell with several moves shows the best of them.
  const seen = new Set();
  result.candidates.forEach((candidate, index) => {
    if (candidate.cell === null || seen.has(candidate.cell)) return;
    seen.add(candidate.cell);
    const { x, y } = board.cells[candidate.cell];
    const mark = markOf(candidate, layer);
    if (!mark) return;
    const { tint, strength, text } = mark;
    if (text === "") {
      const small = { cx: x, cy: y, r: board.radius * 0.22 };
      shapes.push(makeSvg("circle", { class: `small ${tint}`, ...small }));
      return;
    }
    const attributes = { cx: x, cy: y, r: board.radius * 0.94 };
    shapes.push(makeSvg("circle", { class: "ground", ...attributes }));
    shapes.push(makeSvg("circle", { class: tint, "fill-opacity": strength, ...attributes }));
    if (index === 0) shapes.push(makeSvg("circle", { class: "best", ...attributes }));
    shapes.push(makeText(x, y, text, board.radius, "number"));
  });
  return shapes;
}

/** Return a square for each cell that a side will own, the surer the more opaque; its own stones
 * need none. */
export function drawTerritory(board, ownership) {
  const half = board.radius * 0.42;
  const shapes = [];
  ownership.forEach((share, cell) => {
    if (Math.abs(share) < MIN_SHADED_OWNERSHIP) return;
    const { x, y, stone } = board.cells[cell];
    const side = share > 0 ? "first" : "second";
    if (stone === (share > 0 ? 1 : 2)) return;
    const place = { x: x - half, y: y - half, width: 2 * half, height: 2 * half };
    const kind = { class: `territory ${side}`, "fill-opacity": Math.abs(share) };
    shapes.push(makeSvg("rect", { ...kind, ...place }));
  });
  return shapes;
}

/** Return the mark of a move; null without a value, or with a share of 0. */
function markOf({ share, prior, value }, layer) {
  if (layer === "value") {
    if (value === null) return null;
    const tint = value < 0 ? "tint-bad" : "tint-good";
    const text = percent((1 + value) / 2).replace(" %", "");
    return { tint, strength: 0.15 + 0.7 * Math.abs(value), text };
  }
  const [tint, part] = layer === "prior" ? ["tint-prior", prior] : ["tint-visits", share];
  if (!part) return null;
  if (part < MIN_NUMBERED_SHARE) return { tint, text: "" };
  // The square root makes small shares visible; the number is exact.
  return { tint, strength: 0.15 + 0.7 * Math.sqrt(part), text: percent(part).replace(" %", "") };
}

/** Return the shapes of a line of play: numbered, translucent stones. */
export function drawLine(board, line) {
  const shapes = [];
  const seen = new Set();
  line.forEach(({ cell, player }, index) => {
    if (cell === null || seen.has(cell)) return;
    seen.add(cell);
    const { x, y } = board.cells[cell];
    const side = player === 0 ? "first" : "second";
    const radius = board.radius * 0.94;
    shapes.push(makeSvg("circle", { class: `ghost ${side}`, cx: x, cy: y, r: radius }));
    shapes.push(makeText(x, y, String(index + 1), board.radius, `order ${side}`));
  });
  return shapes;
}

function makeText(x, y, text, radius, kind) {
  const size = radius * (text.length > 2 ? 0.7 : 0.86);
  // Browsers differ in SVG's vertical centring; an offset of a third of the size approximates it.
  return makeSvg("text", { class: kind, x, y: y + size * 0.35, "font-size": size }, text);
}
