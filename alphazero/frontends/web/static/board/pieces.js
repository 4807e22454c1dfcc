// The stones and pieces on the board, and how they move: discs fall, pieces slide, discs turn over.

import { makeCircle, makeSvg } from "../lib/dom.js";

const CHIP = 3;

/** Looks whose edges and marks must be dark. */
export const LIGHT = ["white", "yellow", "chip"];

const QUICK = { duration: 180, easing: "ease-out" };

/** Return how a stone looks: 1 and 2 are the players' stones, 3 is a chip of neither. */
export function lookOf({ looks }, stone) {
  return stone === CHIP ? "chip" : looks[stone - 1];
}

/** Return the shape {letter, name, path} of a kind of piece; undefined for a stone. */
export const shapeOf = ({ board }, kind) => board.shapes[kind - 1];

/** Return a stone or a piece of a view at (0, 0). */
export function makePiece(view, stone, kind) {
  const { radius } = view.board;
  const shape = shapeOf(view, kind);
  const look = lookOf(view, stone);
  const side = { 1: "first", 2: "second" }[stone] ?? "chip";
  const shapes = [];
  const centre = { x: 0, y: 0 };
  if (shape?.path) {
    const kinds = `shape ${LIGHT.includes(look) ? "light" : "dark"}`;
    shapes.push(makeSvg("path", { class: kinds, d: shape.path }));
  } else if (look === "o") shapes.push(makeCircle("letter", centre, 0.68 * radius));
  else if (look === "x") {
    const arm = 0.62 * radius;
    const strokes = `M${-arm} ${-arm} L${arm} ${arm} M${arm} ${-arm} L${-arm} ${arm}`;
    shapes.push(makeSvg("path", { class: "letter", d: strokes }));
  } else {
    shapes.push(makeCircle("disc", centre, radius), makeCircle("shine", centre, radius));
  }
  if (shape && !shape.path) {
    const place = { "font-size": 1.2 * radius, y: 0.42 * radius };
    shapes.push(makeSvg("text", { class: `kind order ${side}`, ...place }, shape.letter));
  }
  return makeSvg("g", { class: `piece ${side}` }, ...shapes);
}

export class Pieces {
  constructor() {
    this.holes = makeSvg("clipPath", { id: "holes" });
    this.group = makeSvg("g");
    this.root = makeSvg("svg", { class: "pieces", "aria-hidden": "true" }, this.holes, this.group);
    /** The piece on each cell, {look, element}; undefined without one. */
    this.pieces = [];
    /** The cell from which a piece was dragged, or is: it is not where its cell is. */
    this.dragged = -1;
    this.still = matchMedia("(prefers-reduced-motion: reduce)");
  }

  /** Show a view; the step from the view `before` to the next move is animated. */
  show(view, before) {
    const { board } = view;
    const key = `${view.game} ${board.width} ${view.looks} ${Boolean(view.turned)}`;
    const isStep = key === this.key && before?.id === view.id && view.ply === before.ply + 1;
    if (key !== this.key) this.start(view);
    this.key = key;
    board.cells.forEach(({ x, y, stone, kind = 0 }, index) => {
      const old = this.pieces[index];
      const look = stone === 0 ? undefined : `${stone} ${kind}`;
      if (old?.look === look) return;
      old?.element.remove();
      this.pieces[index] = undefined;
      if (stone === 0) return;
      const element = makeSvg("g", { transform: `translate(${x} ${y})` }, makePiece(view, stone, kind));
      this.group.append(element);
      this.pieces[index] = { look, element };
      if (isStep && !this.still.matches) this.enter(view, index, old !== undefined);
    });
  }

  /** Begin with an empty board; stones in a rack are seen through its holes. */
  start({ board, board_style: style }) {
    this.root.setAttribute("viewBox", `0 0 ${board.width} ${board.height}`);
    this.group.replaceChildren();
    this.pieces = [];
    this.holes.replaceChildren(...board.cells.map((cell) => makeCircle("", cell, board.radius)));
    this.group.setAttribute("clip-path", style === "holes" ? "url(#holes)" : "none");
  }

  /** Animate the arrival of a stone. */
  enter({ board, board_style: style }, index, turns) {
    const piece = this.pieces[index].element.firstChild;
    const { x, y } = board.cells[index];
    if (index === board.last && board.source !== null) {
      if (board.source === this.dragged) return;
      const from = board.cells[board.source];
      piece.animate([{ transform: `translate(${from.x - x}px, ${from.y - y}px)` }, {}], QUICK);
    } else if (style === "holes") fall(piece, y);
    else if (turns) piece.animate([{ transform: "scaleX(0)" }, {}], QUICK);
    else piece.animate([{ transform: "scale(1.25)", opacity: 0 }, {}], QUICK);
  }

  /** Draw the piece of a cell at another place, above all others. */
  drag(index, { x, y }) {
    const { element } = this.pieces[index];
    if (this.dragged !== index) this.group.append(element);
    this.dragged = index;
    element.setAttribute("transform", `translate(${x} ${y})`);
  }

  /** Put a dragged piece, if it is still there, back on its cell. */
  settle({ cells }) {
    const { x, y } = cells[this.dragged] ?? {};
    this.pieces[this.dragged]?.element.setAttribute("transform", `translate(${x} ${y})`);
    this.dragged = -1;
  }

  /** Mark the piece on a cell as picked up; -1 for none. */
  pick(index) {
    this.pieces.forEach((piece, cell) => {
      piece?.element.firstChild.classList.toggle("picked", cell === index);
    });
  }
}

/** Let a disc fall from above the board to its place, and bounce a little. */
function fall(piece, height) {
  const at = (part, offset, easing) => ({ transform: `translateY(${-part}px)`, offset, easing });
  const duration = 180 + 1.1 * height;
  const bounce = Math.min(height * 0.08, 14);
  piece.animate(
    [at(height + 20, 0, "ease-in"), at(0, 0.7, "ease-out"), at(bounce, 0.84, "ease-in"), at(0, 1)],
    { duration },
  );
}
