// Marks on the board: the last move, the winning line, a hint, targets of a piece.

import { makeCircle, makeSquare, makeSvg } from "../lib/dom.js";
import { LIGHT, lookOf } from "./pieces.js";

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
export function makeArrow({ cells, radius }, move, kind, more = {}) {
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
