// The list of moves and the variations at the current position.

import { chance, make, reuseChildren, setAttribute, setText, showButtons } from "../lib/dom.js";
import { judgedName } from "./review.js";

export class Moves {
  constructor(list, branches, { goTo, branch }) {
    this.list = list;
    this.branches = branches;
    this.goTo = goTo;
    this.branch = branch;
  }

  show({ board, moves, ply, side_names: names, children }) {
    const pairs = board.shapes.length > 0; // of pieces: a number for a move of each side
    this.list.classList.toggle("pairs", pairs);
    reuseChildren(this.list, moves.length, (index) => this.makeMove(index + 1));
    moves.forEach((move, index) => {
      const button = this.list.children[index].firstChild;
      setText(button, judgedName(move));
      setAttribute(button, "aria-current", move.ply === ply ? "step" : "false");
      setAttribute(button, "aria-label", labelOf(move, names, pairs));
      setAttribute(button, "title", labelOf(move, names, pairs));
      button.classList.toggle("branches", move.branches > 1);
      button.classList.toggle("ahead", move.ply > ply);
    });
    if (this.ply !== ply) this.reveal(ply);
    this.ply = ply;
    this.showBranches(children, ply, moves[ply]?.name);
  }

  makeMove(ply) {
    return make("li", {}, make("button", { type: "button", click: () => this.goTo(ply) }));
  }

  /** Scroll the list, but never the page, to the current move. */
  reveal(ply) {
    const item = this.list.children[ply - 1];
    if (!item) this.list.scrollTop = 0;
    else if (item.offsetTop < this.list.scrollTop) this.list.scrollTop = item.offsetTop;
    else {
      const below = item.offsetTop + item.offsetHeight - this.list.clientHeight;
      this.list.scrollTop = Math.max(this.list.scrollTop, below);
    }
  }

  /** Show the variations, if there are others than `next`, the next move of the line, if any. */
  showBranches(children, ply, next) {
    const variations = children.some((name) => name !== next) ? children : [];
    showButtons(this.branches, variations, (name, index) => ({
      text: name,
      action: () => this.branch(ply, index),
      "aria-label": `Go to variation ${name}`,
      "aria-current": name === next,
    }));
  }
}

function labelOf({ ply, name, player, value, comment, branches, review }, names, pairs) {
  const words = [`${pairs ? Math.ceil(ply / 2) : ply}. ${names[player]} ${name}`];
  if (value !== null) words.push(`${names[0]} wins ${chance(value)}`);
  if (branches > 1) words.push(`one of ${branches} variations`);
  if (review?.sign) words.push(review.judgement);
  if (comment) words.push(comment);
  return words.join(", ");
}
