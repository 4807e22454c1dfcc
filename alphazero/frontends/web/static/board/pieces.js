// The stones on the board, and how they move: discs fall, pieces slide, discs turn over.

import { makeSvg } from "../lib/dom.js";

/** Looks whose marks on them must be dark. */
const LIGHT = new Set(["white", "yellow", "chip"]);
const CHIP = 3;
const QUICK = { duration: 180, easing: "ease-out" };

/**
 * Return how a stone looks: 1 and 2 are the players' stones, 3 is a chip of neither.
 * @param {import("../../types").View} view
 * @param {number} stone
 */
export function lookOf({ looks }, stone) {
  return stone === CHIP ? "chip" : looks[stone - 1];
}

/**
 * Whether marks and text on a stone must be dark.
 * @param {import("../../types").View} view
 * @param {number} stone
 */
export function isLight(view, stone) {
  return LIGHT.has(lookOf(view, stone));
}

/**
 * Return a stone of a view at (0, 0).
 * @param {import("../../types").View} view
 * @param {number} stone
 */
export function makePiece(view, stone) {
  const { board: { radius }, board_style: style } = view;
  const look = lookOf(view, stone);
  const shapes = [];
  if (look === "x" || look === "o") shapes.push(makeLetter(look, radius));
  else {
    const shade = { class: "shade", cx: radius * 0.05, cy: radius * 0.12, r: radius };
    if (style !== "holes") shapes.push(makeSvg("circle", shade));
    shapes.push(makeSvg("circle", { r: radius, fill: `url(#stone-${look})` }));
    if (style === "holes" || look === "chip") {
      shapes.push(makeSvg("circle", { class: "ridge", r: radius * 0.7 }));
    }
  }
  return makeSvg("g", { class: `piece ${stone === 1 ? "first" : "second"}` }, ...shapes);
}

function makeLetter(look, radius) {
  const arm = 0.62 * radius;
  if (look === "o") return makeSvg("circle", { class: "letter", r: 0.68 * radius });
  const strokes = `M${-arm} ${-arm} L${arm} ${arm} M${arm} ${-arm} L${-arm} ${arm}`;
  return makeSvg("path", { class: "letter", d: strokes });
}

export class Pieces {
  constructor() {
    this.holes = makeSvg("clipPath", { id: "holes" });
    this.group = makeSvg("g");
    this.root = makeSvg("svg", { class: "pieces", "aria-hidden": "true" }, this.holes, this.group);
    /** The piece on each cell, {stone, element}; undefined without one. */
    this.pieces = [];
    this.still = matchMedia("(prefers-reduced-motion: reduce)");
  }

  /**
   * Show a view; the step from the view `before` to the next move is animated.
   * @param {import("../../types").View} view
   * @param {import("../../types").View} before
   */
  show(view, before) {
    const { board } = view;
    const key = `${view.game} ${board.width} ${view.looks}`;
    const isStep = key === this.key && before?.id === view.id && view.ply === before.ply + 1;
    if (key !== this.key) this.start(view);
    this.key = key;
    board.cells.forEach((cell, index) => {
      const { stone } = cell;
      const old = this.pieces[index];
      if ((old?.stone ?? 0) === stone) return;
      if (old) this.leave(old, isStep && stone === 0 && index !== board.source);
      this.pieces[index] = stone === 0 ? undefined : this.add(view, cell, index);
      if (isStep && stone !== 0) this.enter(view, index, old !== undefined);
    });
  }

  /** Begin with an empty board; stones in a rack are seen through its holes. */
  start({ board, board_style: style }) {
    this.root.setAttribute("viewBox", `0 0 ${board.width} ${board.height}`);
    this.group.replaceChildren();
    this.pieces = [];
    const holes = board.cells.map(({ x, y }) => makeSvg("circle", { cx: x, cy: y, r: board.radius }));
    this.holes.replaceChildren(...(style === "holes" ? holes : []));
    if (style === "holes") this.group.setAttribute("clip-path", "url(#holes)");
    else this.group.removeAttribute("clip-path");
  }

  add(view, { x, y, stone }, index) {
    const piece = makePiece(view, stone);
    const element = makeSvg("g", { transform: `translate(${x} ${y})`, "data-cell": index }, piece);
    this.group.append(element);
    return { stone, element };
  }

  leave({ element }, fades) {
    if (!fades || this.still.matches) {
      element.remove();
      return;
    }
    const gone = [{ opacity: 1 }, { opacity: 0, transform: "scale(0.6)" }];
    element.firstChild.animate(gone, { ...QUICK, duration: 350 }).onfinish = () => element.remove();
  }

  /** Animate the arrival of a stone. */
  enter({ board, board_style: style }, index, turns) {
    if (this.still.matches) return;
    const piece = this.pieces[index].element.firstChild;
    const { x, y } = board.cells[index];
    if (index === board.last && board.source !== null) {
      const from = board.cells[board.source];
      slide(piece, from.x - x, from.y - y, QUICK);
    } else if (style === "holes") fall(piece, y);
    else if (turns) piece.animate([{ transform: "scaleX(0)" }, {}], QUICK);
    else piece.animate([{ transform: "scale(1.25)", opacity: 0 }, {}], QUICK);
  }

  /** Mark the piece on a cell as picked up; -1 for none. */
  pick(index) {
    this.pieces.forEach((piece, cell) => {
      piece?.element.firstChild.classList.toggle("picked", cell === index);
    });
  }

  /** Draw the piece of a cell at another place while it is dragged; null puts it back. */
  drag(index, place, cell) {
    const piece = this.pieces[index];
    if (!piece) return;
    const { x, y } = place ?? cell;
    piece.element.setAttribute("transform", `translate(${x} ${y})`);
    if (place) this.group.append(piece.element);
  }
}

function slide(piece, x, y, timing) {
  piece.animate([{ transform: `translate(${x}px, ${y}px)` }, {}], timing);
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
