// The board: the server's picture, an overlay, and a button on every cell.
//
// Screen readers skip the picture and read the buttons. Tab reaches one button, arrow keys move
// from there ("roving tabindex").

import { make, makeSvg, percent, reuseChildren, setAttribute, signed } from "../lib/dom.js";
import { drawLayer, drawLine, drawTerritory } from "./overlay.js";
import { endOf } from "./search_result.js";

const STEPS = { ArrowLeft: [0, -1], ArrowRight: [0, 1], ArrowUp: [-1, 0], ArrowDown: [1, 0] };

export class Board {
  /** `play(actions)` is called with the moves of a pressed cell. */
  constructor(root, play) {
    this.root = root;
    this.play = play;
    this.picture = make("div", { class: "picture", "aria-hidden": "true" });
    this.overlay = makeSvg("svg", { class: "overlay", "aria-hidden": "true" });
    this.cells = make("div", { class: "cells" });
    root.append(this.picture, this.overlay, this.cells);
    this.cells.addEventListener("keydown", (event) => this.onKey(event));
    this.cells.addEventListener("focusin", (event) => this.setCurrent(event.target));
    this.cells.addEventListener("pointerover", (event) => this.onPointer(event));
    this.cells.addEventListener("pointerleave", (event) => this.onPointer(event));
    /** Index of the cell that Tab reaches. */
    this.current = 0;
    /** Index of the cell under the mouse, or -1. */
    this.pointed = -1;
  }

  /**
   * Show a view, with `line` if given, else with `layer`: "territory", "off" for none, or that of
   * its search result.
   */
  show(view, result, layer, line) {
    this.view = view;
    this.drawPicture(view.board);
    const ownership = layer === "territory" ? (endOf(view)?.ownership ?? []) : null;
    let shapes = [];
    if (line) shapes = drawLine(view.board, line);
    else if (ownership) shapes = drawTerritory(view.board, ownership);
    else if (result && layer !== "off") shapes = drawLayer(view.board, result, layer);
    this.overlay.replaceChildren(...shapes);
    this.root.dataset.mover = view.to_play === 0 ? "first" : "second";
    if (ownership) this.showCells(territoryWords(ownership, view.signs));
    else this.showCells(announcementsFor(layer === "off" ? null : result));
  }

  drawPicture({ svg, width, height }) {
    if (this.svg === svg) return;
    this.svg = svg;
    const parsed = new DOMParser().parseFromString(svg, "image/svg+xml").documentElement;
    this.picture.replaceChildren(document.importNode(parsed, true));
    this.overlay.setAttribute("viewBox", `0 0 ${width} ${height}`);
    this.root.style.setProperty("--ratio", width / height);
  }

  /** Place the buttons; `announcements` has more words for screen readers, by cell. */
  showCells(announcements) {
    const { board, rows, columns, signs } = this.view;
    if (this.cells.children.length !== board.cells.length) {
      this.current = Math.floor(rows / 2) * columns + Math.floor(columns / 2);
    }
    reuseChildren(this.cells, board.cells.length, (index) => this.makeCell(index));
    board.cells.forEach((cell, index) => {
      const button = this.cells.children[index];
      place(button, cell, board);
      const stone = cell.stone === 0 ? "empty" : signs[cell.stone - 1];
      const words = [cell.label, stone, ...(announcements.get(index) ?? [])];
      setAttribute(button, "aria-label", words.join(", "));
      setAttribute(button, "aria-disabled", this.actionsOf(index).length === 0);
      setAttribute(button, "tabindex", index === this.current ? 0 : -1);
    });
    this.previewStone();
  }

  makeCell(index) {
    return make("button", { type: "button", click: () => this.press(index) });
  }

  press(index) {
    const actions = this.actionsOf(index);
    if (actions.length > 0) this.play(actions);
  }

  /** Return the moves of the cell where the stone lands. */
  actionsOf(index) {
    return this.view.board.cells[this.landingOf(index)]?.actions ?? [];
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

  onPointer({ target, pointerType }) {
    this.pointed = pointerType === "touch" ? -1 : [...this.cells.children].indexOf(target);
    this.previewStone();
  }

  /** Preview the stone of a click in its landing cell. */
  previewStone() {
    const landing = this.landingOf(this.pointed);
    [...this.cells.children].forEach((button, index) => {
      button.classList.toggle("preview", index === landing);
    });
  }

  onKey(event) {
    const step = STEPS[event.key];
    if (!step) return;
    event.preventDefault();
    event.stopPropagation(); // otherwise the page steps through the game too
    const { rows, columns } = this.view;
    const row = Math.floor(this.current / columns) + step[0];
    const column = (this.current % columns) + step[1];
    if (row < 0 || row >= rows || column < 0 || column >= columns) return;
    this.cells.children[row * columns + column].focus();
  }

  setCurrent(button) {
    const index = [...this.cells.children].indexOf(button);
    this.cells.children[this.current]?.setAttribute("tabindex", -1);
    button.setAttribute("tabindex", 0);
    this.current = index;
  }
}

/** Place a button over its cell, in percent of the board, so that it scales with the board. */
function place(button, { x, y }, { width, height, radius }) {
  const key = [x, y, width, height, radius].join();
  if (button.dataset.place === key) return;
  button.dataset.place = key;
  button.style.left = `${(100 * (x - radius)) / width}%`;
  button.style.top = `${(100 * (y - radius)) / height}%`;
  button.style.width = `${(200 * radius) / width}%`;
  button.style.height = `${(200 * radius) / height}%`;
}

/** Return the screen reader words of each cell: who will own it, and how surely. */
function territoryWords(ownership, signs) {
  const words = ownership.map((share) => (
    share === 0 ? "nobody's" : `${percent(Math.abs(share))} ${signs[share > 0 ? 0 : 1]}'s`
  ));
  return new Map(words.map((word, cell) => [cell, [word]]));
}

/** Return the screen reader words of each cell: its visit share and value. */
function announcementsFor(result) {
  const announcements = new Map();
  for (const { cell, share, value } of result?.candidates ?? []) {
    if (cell === null || announcements.has(cell)) continue;
    const words = [`${percent(share)} of visits`];
    if (value !== null) words.push(`value ${signed(value)}`);
    announcements.set(cell, words);
  }
  return announcements;
}
