// What lies on the board: the last move, the winning line, a hint, targets of a piece, and over them
// the tints and numbers of a search, or a line of play.

import { makeCircle, makeSquare, makeSvg, percent } from "../lib/dom.js";
import { LIGHT, lookOf } from "./pieces.js";

/** Smaller shares, which round to 0, get a small ring: a dot would look like a star point. */
const MIN_NUMBERED_SHARE = 0.005;

/** Minimum ownership that is shaded, as in pictures. */
const MIN_SHADED_OWNERSHIP = 0.05;

/** Maximum arrows of a search or a line: more hide the pieces. */
const MAX_ARROWS = 6;

/** Return the marks of a position. */
export function drawMarks(view) {
  const { cells, radius, last, source, winning } = view.board;
  const ground = (cell) => (LIGHT.includes(lookOf(view, cells[cell].stone)) ? " light" : "");
  const shapes = winning.flatMap((cell) => (
    ["won-edge", "won"].map((kind) => makeCircle(kind + ground(cell), cells[cell], radius))
  ));
  if (last !== null && source === null && isDisc(view, last)) {
    shapes.push(makeCircle(`last-move${ground(last)}`, cells[last], 0.42 * radius));
  }
  return shapes;
}

/** Return the marks under the stones: the last move's cells, an attacked king, a piece picked up. */
export function drawCells(view, picked) {
  const { board, board: { last, source, attacked = [] } } = view;
  const shapes = attacked.map((cell) => makeCircle("attacked-cell", board.cells[cell], 1.3 * board.radius));
  if (source !== null) shapes.push(square(board, source, "last-cell"));
  if (last !== null && (source !== null || !isDisc(view, last))) {
    shapes.push(square(board, last, "last-cell"));
  }
  if (picked >= 0) shapes.push(square(board, picked, "picked-cell"));
  return shapes;
}

/** Whether the stone on a cell is a disc, on which a mark can lie. */
function isDisc(view, cell) {
  const { stone } = view.board.cells[cell];
  return stone !== 0 && !["x", "o"].includes(lookOf(view, stone));
}

/** Return the best move of a view's search as a ring, or as an arrow from its piece's cell. */
export function drawHint({ board, looks, search }) {
  const best = search?.candidates[0];
  if (!best || best.cell === null) return [];
  const cell = board.cells[best.cell];
  // A ring would look like an O.
  if (looks[1] === "o" && best.source === null) return [square(board, best.cell, "hint")];
  if (best.source === null) {
    return ["hint-edge", "hint"].map((kind) => makeCircle(kind, cell, 0.86 * board.radius));
  }
  return [makeArrow(board, best, "hint")];
}

/** Return an arrow from a move's source to its cell, with a light edge. */
function makeArrow({ cells, radius }, move, kind, more = {}) {
  const [from, { x, y }] = [cells[move.source], cells[move.cell]];
  const length = Math.hypot(x - from.x, y - from.y);
  const [u, v] = [(x - from.x) / length, (y - from.y) / length];
  const head = 0.55 * radius;
  const [endX, endY] = [x - u * head, y - v * head];
  const line = { x1: from.x, y1: from.y, x2: endX, y2: endY };
  const corners = [[x, y], [endX - v * head, endY + u * head], [endX + v * head, endY - u * head]];
  return makeSvg(
    "g", { class: `arrow ${kind}`, ...more },
    makeSvg("line", { class: "edge", ...line }), makeSvg("line", line),
    makeSvg("polygon", { points: corners.map(String).join(" ") }),
  );
}

/** Return a dot on each cell to which the piece on cell `picked` can move, a ring around a piece. */
export function drawTargets({ cells, radius }, picked) {
  const targets = cells.filter(({ actions }) => actions.some(({ source }) => source === picked));
  return targets.map((cell) => makeCircle(...(
    cell.stone === 0 ? ["target", cell, 0.34 * radius] : ["target taken", cell, 1.15 * radius]
  )));
}

/** Return a mark that fills a cell: a chequered square of pieces, or a part of another cell. */
function square({ cells, radius, shapes }, cell, kind) {
  const [size, corner] = shapes?.length ? [1.31, 0] : [1.16, 3];
  return makeSquare(kind, cells[cell], size * radius, { rx: corner });
}

/** Return the shapes of `layer` of a search result; the best move has a ring, a piece's an arrow. */
export function drawLayer(board, result, layer) {
  const moves = result.candidates.filter(({ source }) => Number.isInteger(source));
  if (moves.length > 0) return drawArrows(board, moves, layer);
  const shapes = [];
  // A cell with several moves shows the best of them.
  for (const candidate of firstByCell(result.candidates)) {
    const cell = board.cells[candidate.cell];
    const mark = markOf(candidate, layer);
    if (!mark) continue;
    const { tint, strength, text } = mark;
    if (text === "") {
      shapes.push(makeCircle(`small ${tint}`, cell, board.radius * 0.22));
      continue;
    }
    const radius = board.radius * 0.94;
    shapes.push(makeCircle("ground", cell, radius));
    shapes.push(makeCircle(tint, cell, radius, { "fill-opacity": strength }));
    if (candidate === result.candidates[0]) shapes.push(makeCircle("best", cell, radius));
    shapes.push(makeText(cell, text, board.radius, "number"));
  }
  return shapes;
}

/** Return an arrow with a number for each of the best moves; the best one lies above. */
function drawArrows(board, moves, layer) {
  const texts = moves.slice(0, MAX_ARROWS).map((move) => [move, markOf(move, layer)]);
  return texts.filter(([, mark]) => mark?.text).reverse().flatMap(([move, mark]) => {
    const opacity = { opacity: 0.3 + 0.7 * mark.strength };
    return numberedArrow(board, move, mark.tint, mark.text, "number", opacity);
  });
}

/** Return an arrow with a text near its head. */
function numberedArrow(board, move, kind, text, textKind, more) {
  const [from, to] = [board.cells[move.source], board.cells[move.cell]];
  const share = 0.55 * board.radius / Math.hypot(to.x - from.x, to.y - from.y);
  const place = { x: to.x - share * (to.x - from.x), y: to.y - share * (to.y - from.y) };
  return [
    makeArrow(board, move, kind, more),
    makeCircle(`${kind} label`, place, 0.6 * board.radius),
    makeText(place, text, 0.9 * board.radius, textKind),
  ];
}

/** Return a square for each cell that a side will own, except under its own stones. */
export function drawTerritory(board, ownership) {
  const half = board.radius * 0.42;
  const shapes = [];
  ownership.forEach((share, cell) => {
    if (Math.abs(share) < MIN_SHADED_OWNERSHIP) return;
    const [side, stone] = share > 0 ? ["first", 1] : ["second", 2];
    if (board.cells[cell].stone === stone) return;
    const opacity = { "fill-opacity": Math.abs(share) };
    shapes.push(makeSquare(`territory ${side}`, board.cells[cell], half, opacity));
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

/** Return the shapes of a line of play: numbered, translucent stones, or arrows of pieces. */
export function drawLine(board, line) {
  if (line.some(({ source }) => Number.isInteger(source))) {
    return line.slice(0, MAX_ARROWS).flatMap((move, index) => (
      numberedArrow(board, move, sideOf(move), String(index + 1), `order ${sideOf(move)}`)
    ));
  }
  return firstByCell(line).flatMap((move) => {
    const cell = board.cells[move.cell];
    const side = sideOf(move);
    return [
      makeCircle(`ghost ${side}`, cell, board.radius * 0.94),
      makeText(cell, String(line.indexOf(move) + 1), board.radius, `order ${side}`),
    ];
  });
}

const sideOf = ({ player }) => (player === 0 ? "first" : "second");

/** Return the first of the moves on each cell. */
function firstByCell(moves) {
  return moves.filter(({ cell }, index) => (
    cell !== null && moves.findIndex((move) => move.cell === cell) === index
  ));
}

function makeText({ x, y }, text, radius, kind) {
  const size = radius * (text.length > 2 ? 0.7 : 0.86);
  // Browsers differ in SVG's vertical centring; an offset of a third of the size approximates it.
  return makeSvg("text", { class: kind, x, y: y + size * 0.35, "font-size": size }, text);
}
