// The board: the server's picture of it, stones, marks, and a button on every cell.
//
// Screen readers skip the picture and read the buttons. Tab reaches one button, arrow keys move
// from there ("roving tabindex"). A move from one cell to another is made in two presses, or by
// dragging the piece.

import { endOf } from "../components/layers.js";
import { chance, make, makeSvg, percent, setAttribute } from "../lib/dom.js";
import {
  drawCells, drawHint, drawLayer, drawLine, drawMarks, drawTargets, drawTerritory,
} from "./overlay.js";
import { Pieces, shapeOf } from "./pieces.js";

/** Pixels that a pointer moves before it drags. */
const DRAG = 5;

const STEPS = { ArrowLeft: [0, -1], ArrowRight: [0, 1], ArrowUp: [-1, 0], ArrowDown: [1, 0] };

export class Board {
  /** `play(actions, click)` is called with the moves of a pressed cell, and the event if it is one. */
  constructor(root, play) {
    this.root = root;
    this.play = play;
    this.picture = make("div", { class: "picture", "aria-hidden": "true" });
    this.under = makeSvg("svg", { class: "under", "aria-hidden": "true" });
    this.pieces = new Pieces();
    this.overlay = makeSvg("svg", { class: "overlay", "aria-hidden": "true" });
    this.cells = make("div", { class: "cells" });
    root.append(this.picture, this.under, this.pieces.root, this.overlay, this.cells);
    this.cells.addEventListener("keydown", (event) => this.onKey(event));
    this.cells.addEventListener("pointerdown", (event) => this.onPointer(event));
    this.cells.addEventListener("focusin", (event) => this.setCurrent(event.target));
    /** Index of the cell that Tab reaches. */
    this.current = 0;
    /** Index of the cell whose piece is picked up, or -1. */
    this.picked = -1;
  }

  /** Show a view with a line of moves, else with a layer: "off", "territory", or a search's. */
  show(view, layer, line) {
    const before = this.view;
    const isSameGame = before?.id === view.id && before.game === view.game;
    Object.assign(this, { view, layer, line });
    const isSameBoard = isSameGame && before.ply === view.ply && before.turned === view.turned;
    if (!isSameBoard || !this.sources().has(this.picked)) this.picked = -1;
    this.drawField(view);
    if (!isSameGame || before.serial !== view.serial) {
      this.pieces.show(view, before);
      if (this.picked < 0) this.pieces.settle(view.board);
    }
    this.draw();
  }

  /** Draw what lies on the stones, and name the cells. */
  draw() {
    const { view, view: { search }, layer, line } = this;
    const ownership = layer === "territory" ? (endOf(view)?.ownership ?? []) : null;
    const shapes = drawMarks(view);
    if (line) shapes.push(...drawLine(view.board, line));
    else if (ownership) shapes.push(...drawTerritory(view.board, ownership));
    else if (search && layer !== "off") shapes.push(...drawLayer(view.board, search, layer));
    if (view.hint && !line && (ownership || layer === "off")) shapes.push(...drawHint(view));
    if (this.picked >= 0) shapes.push(...drawTargets(view.board, this.picked));
    this.under.replaceChildren(...drawCells(view, this.picked));
    this.overlay.replaceChildren(...shapes);
    this.pieces.pick(this.picked);
    if (ownership) this.showCells(territoryWords(ownership, view.side_names));
    else this.showCells(announcementsFor(layer === "off" ? null : search));
  }

  /** Draw an empty board, with a button on each cell; only if it differs from the last one. */
  drawField({ rows, columns, board_style: style, board: { field, width, height, radius, cells } }) {
    if (this.field === field) return;
    this.field = field;
    const svg = new DOMParser().parseFromString(field, "image/svg+xml").documentElement;
    this.picture.replaceChildren(document.importNode(svg, true));
    for (const layer of [this.under, this.overlay]) {
      layer.setAttribute("viewBox", `0 0 ${width} ${height}`);
    }
    this.root.style.setProperty("--ratio", width / height);
    this.current = Math.floor(rows / 2) * columns + Math.floor(columns / 2);
    const isChequered = style === "chequered";
    const half = isChequered ? 1.31 * radius : radius;
    this.root.classList.toggle("chequered", isChequered);
    // In percent of the board, so that buttons scale with it.
    this.cells.replaceChildren(...cells.map(({ x, y }, index) => make("button", {
      type: "button", click: (event) => this.press(index, event),
      style: `left: ${(100 * (x - half)) / width}%; top: ${(100 * (y - half)) / height}%; `
        + `width: ${(200 * half) / width}%; height: ${(200 * half) / height}%`,
    })));
  }

  /** Name and enable the buttons; `announcements` has more words for screen readers, by cell. */
  showCells(announcements) {
    const { board, side_names: names } = this.view;
    const sources = this.sources();
    board.cells.forEach(({ label, stone, kind }, index) => {
      const button = this.cells.children[index];
      const piece = shapeOf(this.view, kind);
      const name = names[stone - 1] ?? "chip";
      const words = [label, piece ? `${name.toLowerCase()} ${piece.name}` : name];
      if (stone === 0) words[1] = "empty";
      if (board.attacked?.includes(index)) words.push("in check");
      words.push(...(announcements.get(index) ?? []));
      const isTarget = this.actionsOf(index).length > 0;
      if (index === this.picked) words.push("picked up");
      else if (this.picked >= 0 && isTarget) words.push("target");
      setAttribute(button, "aria-label", words.join(", "));
      const enabled = sources.has(index) || isTarget;
      button.classList.toggle("source", sources.has(index));
      setAttribute(button, "aria-disabled", !enabled);
      setAttribute(button, "tabindex", index === this.current ? 0 : -1);
    });
  }

  press(index, click = {}) {
    const actions = this.actionsOf(index);
    if (actions.length > 0) {
      this.picked = -1;
      this.play(actions, click);
    } else if (index !== this.picked && this.sources().has(index)) this.pickUp(index);
    else if (this.picked >= 0) this.pickUp(-1);
  }

  /** Let a piece follow the pointer; where it is let go, it moves if it can. */
  onPointer(down) {
    const index = [...this.cells.children].indexOf(down.target);
    if (down.button !== 0 || !this.sources().has(index)) return;
    const follow = new AbortController();
    const on = (type, action) => addEventListener(type, action, { signal: follow.signal });
    const isDragged = () => this.pieces.dragged === index;
    on("pointermove", ({ clientX, clientY }) => {
      const isFar = Math.hypot(clientX - down.clientX, clientY - down.clientY) > DRAG;
      if ((!isDragged() && !isFar) || !this.sources().has(index)) return; // perhaps it is gone
      if (this.picked !== index) this.pickUp(index);
      const { left, top, width } = this.root.getBoundingClientRect();
      const scale = this.view.board.width / width;
      this.pieces.drag(index, { x: scale * (clientX - left), y: scale * (clientY - top) });
    });
    const end = ({ type, clientX, clientY }) => {
      follow.abort();
      if (!isDragged()) return;
      const cell = type === "pointerup" ? this.cellAt(clientX, clientY) : -1;
      const actions = this.picked === index ? this.actionsOf(cell) : [];
      if (actions.length > 0) {
        this.pieces.drag(index, this.view.board.cells[cell]);
        this.press(cell);
      } else this.putDown();
    };
    on("pointerup", end);
    on("pointercancel", end);
  }

  /** Return the cell at a place of the window, or -1. */
  cellAt(x, y) {
    return [...this.cells.children].indexOf(document.elementFromPoint(x, y));
  }

  /** Put a piece that is picked up or dragged back on its cell. */
  putDown() {
    this.pieces.settle(this.view.board);
    this.pickUp(-1);
  }

  pickUp(index) {
    this.picked = index;
    this.draw();
  }

  /** Return the cells of the pieces that can move. */
  sources() {
    const moves = this.view.board.cells.flatMap(({ actions }) => actions);
    return new Set(moves.map(({ source }) => source).filter((source) => source !== undefined));
  }

  /** Return the moves that a press on a cell makes: of the picked piece, or of a new stone. */
  actionsOf(index) {
    const actions = this.view.board.cells[this.landingOf(index)]?.actions ?? [];
    return actions.filter(({ source }) => source === undefined || source === this.picked);
  }

  /** Return the cell where a stone lands, below `index` in games with gravity; or -1. */
  landingOf(index) {
    const { board: { cells }, columns, board_style } = this.view;
    if (index < 0 || cells[index].actions.length > 0) return index;
    if (board_style !== "holes" || cells[index].stone !== 0) return -1;
    return cells.findIndex(
      ({ actions }, other) => other % columns === index % columns && actions.length > 0,
    );
  }

  onKey(event) {
    if (event.key === "Escape" && this.picked >= 0) this.pickUp(-1);
    const step = STEPS[event.key];
    if (!step) return;
    event.preventDefault();
    event.stopPropagation(); // otherwise the page steps through the game too
    const { rows, columns } = this.view;
    const sign = this.view.turned ? -1 : 1;
    const row = Math.floor(this.current / columns) + sign * step[0];
    const column = (this.current % columns) + sign * step[1];
    if (row < 0 || row >= rows || column < 0 || column >= columns) return;
    this.cells.children[row * columns + column].focus();
  }

  setCurrent(button) {
    this.cells.children[this.current]?.setAttribute("tabindex", -1);
    button.setAttribute("tabindex", 0);
    this.current = [...this.cells.children].indexOf(button);
  }
}

/** Return the screen reader words of each cell: who will own it, and how surely. */
function territoryWords(ownership, names) {
  return new Map(ownership.map((share, cell) => [
    cell, [share === 0 ? "nobody's" : `${percent(Math.abs(share))} ${names[share > 0 ? 0 : 1]}'s`],
  ]));
}

/** Return the screen reader words of each cell: its visit share and win chance. */
function announcementsFor(search) {
  const announcements = new Map();
  for (const { cell, source, name, share, value } of search?.candidates ?? []) {
    if (cell === null || announcements.has(cell)) continue;
    const wins = value === null ? [] : [`wins ${chance(value)}`];
    const move = Number.isInteger(source) ? `${name}: ` : "";
    announcements.set(cell, [`${move}${percent(share)} of visits`, ...wins]);
  }
  return announcements;
}
