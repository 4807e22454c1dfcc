// A table of moves: each can be played by a button, and is shown on the board when it is pointed at.

import { make, percent, reuseChildren, setAttribute, setText } from "../lib/dom.js";

export class MoveTable {
  /**
   * `columns` are headings with the class of their cells: "visits" and "prior" are shares with a
   * bar, others are the caller's. `play(action)` is called when a move is pressed, `point(move)`
   * when its row gets the mouse or the focus, `point(null)` when no row has them.
   */
  constructor(label, columns, { play, point }) {
    this.columns = columns;
    this.play = play;
    this.point = point;
    /** The moves, in row order. */
    this.moves = [];
    /** The action whose row has the mouse or the focus. */
    this.pointed = null;
    this.rows = make("tbody");
    const heads = [["Move"], ...columns].map(([name]) => make("th", { scope: "col" }, name));
    this.root = make(
      "table", { class: "move-table", "aria-label": label },
      make("thead", {}, make("tr", {}, ...heads)), this.rows,
    );
    for (const type of ["pointerover", "focusin", "click"]) {
      this.rows.addEventListener(type, (event) => this.onPointer(event));
    }
    for (const type of ["pointerleave", "focusout"]) {
      this.rows.addEventListener(type, () => this.onLeave());
    }
  }

  /** Show moves; `fill(cells, move)` writes the cells after the first one. */
  show(moves, fill) {
    this.moves = moves;
    reuseChildren(this.rows, moves.length, () => this.makeRow());
    moves.forEach((move, index) => {
      const [first, ...cells] = this.rows.children[index].children;
      const button = first.firstChild;
      setText(button, move.name);
      setAttribute(button, "aria-label", `Play ${move.name}`);
      button.onclick = () => this.play(move.action);
      fill(cells, move);
    });
  }

  makeRow() {
    const cells = this.columns.map(([, kind]) => make("td", { class: kind ?? "" }));
    for (const cell of cells.filter(({ className }) => /visits|prior/.test(className))) {
      cell.append(make("span"), make("span", { class: `fill ${cell.className}` }));
      cell.classList.add("share");
    }
    const button = make("button", { type: "button" });
    return make("tr", {}, make("th", { scope: "row" }, button), ...cells);
  }

  onPointer(event) {
    const move = this.moves[[...this.rows.children].indexOf(event.target.closest("tr"))];
    if (!move || this.pointed === move.action) return;
    this.pointed = move.action;
    this.point(move);
  }

  onLeave() {
    if (this.rows.matches(":hover") || this.rows.contains(document.activeElement)) return;
    this.pointed = null;
    this.point(null);
  }
}

/** Show a share in [0, 1] as a number above its bar. */
export function setShare(cell, share) {
  setText(cell.firstChild, percent(share));
  cell.lastChild.style.width = `${100 * share}%`;
}
