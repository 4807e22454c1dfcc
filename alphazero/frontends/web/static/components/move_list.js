// The list of moves and the variations at the current position.

import { chance, make, reuseChildren, setAttribute, setText, showButtons } from "../lib/dom.js";
import { judgedName, numberOf } from "./review.js";

export class Moves {
  constructor(list, branches, { goTo, branch }) {
    this.list = list;
    this.branches = branches;
    this.goTo = goTo;
    this.branch = branch;
  }

  show(view) {
    const { moves, ply, side_names: names, children } = view;
    reuseChildren(this.list, moves.length, (index) => this.makeMove(index + 1));
    moves.forEach((move, index) => {
      const item = this.list.children[index];
      const button = item.firstChild;
      const number = numberOf(view, move.ply);
      const label = labelOf(move, number, names);
      setAttribute(item, "data-number", shownNumber(view, move, number));
      setText(button, judgedName(move));
      setAttribute(button, "aria-current", move.ply === ply ? "step" : "false");
      setAttribute(button, "aria-label", label);
      setAttribute(button, "title", label);
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

/** Return the number before a move: of every other one, and as in PGN of Black's if it is the first. */
function shownNumber({ board }, { ply, player }, number) {
  const isEven = board.shapes.length > 0 ? player === 1 : ply % 2 === 0;
  if (!isEven) return `${number}.`;
  return ply === 1 ? `${number}...` : "";
}

function labelOf({ name, player, value, comment, branches, review }, number, names) {
  const words = [`${number}. ${names[player]} ${name}`];
  if (value !== null) words.push(`${names[0]} wins ${chance(value)}`);
  if (branches > 1) words.push(`one of ${branches} variations`);
  if (review?.sign) words.push(review.judgement);
  if (comment) words.push(comment);
  return words.join(", ");
}
