// The review of a game: progress, accuracy of each side, and the mistakes.

import { make, press, reuseChildren, setAttribute, setEnabled, setText } from "../lib/dom.js";

const COUNTS = [
  ["best", "best moves"],
  ["inaccuracy", "inaccuracies ?!"],
  ["mistake", "mistakes ?"],
  ["blunder", "blunders ??"],
];

const chance = (number) => `${Math.round(number)} %`;

/** Return the number of a move after `ply` moves: in games of pieces both sides share one. */
export const numberOf = ({ board, moves }, ply) => (
  board.shapes.length > 0 ? Math.ceil((ply + moves[0].player) / 2) : ply
);

/** Return a move with the sign of its judgement: "b7??". */
export const judgedName = ({ name, review }) => name + (review?.sign ?? "");

export class ReviewPanel {
  /** `send(command, body)` sends a command; `goTo(ply)` goes to a position of the line. */
  constructor(root, { send, goTo }) {
    this.goTo = goTo;
    this.button = make("button", { type: "button", id: "review-button" });
    press(this.button, () => send("review", { on: !this.view.review?.running }));
    this.progress = make("span", { class: "caption" });
    this.rows = make("tbody");
    this.table = make("table", { class: "accuracies" }, this.rows);
    this.mistakes = make("ol", { class: "mistakes", "aria-label": "Mistakes of both sides" });
    root.append(
      make("div", { class: "row" }, this.button, this.progress), this.table, this.mistakes,
    );
  }

  show(view) {
    this.view = view;
    const { review, moves, side_names: names } = view;
    const isComplete = Boolean(review) && review.done === review.total;
    // Another player begins anew.
    const isOther = Boolean(review) && !review.running && review.player !== view.analysis_player;
    setEnabled(this.button, moves.length > 0 && (isOther || !isComplete));
    setText(this.button, buttonText(isOther ? null : review));
    setAttribute(this.button, "aria-pressed", Boolean(review?.running));
    this.progress.hidden = this.table.hidden = this.mistakes.hidden = !review;
    if (!review) return;
    const { done, total, exact, player } = review;
    const progress = `${done} of ${total} positions`;
    setText(this.progress, isComplete ? `by ${player}; ${exact} of ${total} solved exactly` : progress);
    const rows = [
      ["", ...names],
      ["accuracy", ...review.accuracies.map((share) => (share === null ? "–" : chance(share)))],
      ...COUNTS.map(([name, words]) => [words, ...[0, 1].map((player) => moves.filter(
        (move) => move.player === player && move.review?.judgement === name).length)]),
    ];
    reuseChildren(this.rows, rows.length, makeRow);
    rows.forEach((row, index) => {
      row.forEach((text, column) => setText(this.rows.children[index].children[column], String(text)));
    });
    this.showMistakes(moves.filter((move) => move.review?.better));
  }

  /** List the mistakes; a press goes to the position where a better move was possible. */
  showMistakes(mistakes) {
    reuseChildren(this.mistakes, mistakes.length, makeMistake);
    mistakes.forEach((move, index) => {
      const [head, words] = this.mistakes.children[index].children;
      const { ply, player, review: { judgement, before, after, better } } = move;
      const name = `${numberOf(this.view, ply)}. ${this.view.side_names[player]} ${judgedName(move)}`;
      setText(head, name);
      setAttribute(head, "aria-label", `Go before ${name}, ${judgement}`);
      const end = better.end ? `, which ${better.end}` : "";
      setText(words, `${chance(before)} → ${chance(after)}; better was ${better.name}${end}`);
      head.onclick = () => this.goTo(ply - 1);
    });
  }
}

function buttonText(review) {
  if (!review) return "Review the game";
  if (review.running) return "Leave the review";
  return review.done < review.total ? "Go on with the review" : "Reviewed";
}

function makeRow() {
  return make("tr", {}, make("th", { scope: "row" }), make("td"), make("td"));
}

function makeMistake() {
  return make("li", {}, make("button", { type: "button" }), make("span", { class: "caption" }));
}
