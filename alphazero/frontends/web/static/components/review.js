// The review of a game: progress, accuracy of each side, the mistakes, and another try at them.

import { make, makeSvg, press, reuseChildren, setAttribute, setEnabled, setText } from "../lib/dom.js";

const COUNTS = [
  ["best", "best moves"],
  ["inaccuracy", "inaccuracies ?!"],
  ["mistake", "mistakes ?"],
  ["blunder", "blunders ??"],
];

const chance = (number) => `${Math.round(number)} %`;

/** Return a move with the sign of its judgement: "b7??". */
export const judgedName = ({ name, review }) => name + (review?.sign ?? "");

/** Return the marks of the bad moves in the graph of values; `across` and `down` map to pixels. */
export function graphMarks({ moves }, across, down) {
  const bad = moves.filter(({ review, value }) => review?.sign && value !== null);
  return bad.map(({ ply, value, review }) => makeSvg("circle", {
    class: `judged ${review.judgement}`, cx: across(ply), cy: down(value), r: 5,
  }));
}

export class ReviewPanel {
  /** `send(command, body)` sends a command; `goTo(ply)` goes to a position of the line. */
  constructor(root, { send, goTo }) {
    this.send = send;
    this.goTo = goTo;
    this.button = make("button", { type: "button", id: "review-button" });
    press(this.button, () => send("review", { on: !this.view.review?.running }));
    this.bar = make("progress", { "aria-label": "Reviewed positions" });
    this.progress = make("span", { class: "progress-text" });
    this.rows = make("tbody");
    this.heads = [make("th", { scope: "col" }), make("th", { scope: "col" })];
    this.table = make(
      "table",
      { class: "accuracies" },
      make("thead", {}, make("tr", {}, make("td"), ...this.heads)),
      this.rows,
    );
    this.mistakes = make("ol", { class: "mistakes", "aria-label": "Mistakes of both sides" });
    this.detour = new DetourBar(send);
    root.append(
      make("div", { class: "row" }, this.button, this.bar, this.progress),
      this.detour.root,
      this.table,
      this.mistakes,
    );
  }

  show(view) {
    this.view = view;
    const { review, moves, side_names: names } = view;
    const isComplete = Boolean(review) && review.done === review.total;
    setEnabled(this.button, moves.length > 0 && !isComplete);
    setText(this.button, buttonText(review));
    setAttribute(this.button, "aria-pressed", Boolean(review?.running));
    this.bar.hidden = !review || isComplete;
    this.progress.hidden = !review;
    this.table.hidden = !review;
    this.mistakes.hidden = !review;
    this.detour.show(view);
    if (!review) return;
    this.bar.max = review.total;
    this.bar.value = review.done;
    const { done, total, exact, player } = review;
    const progress = `${done} of ${total} positions`;
    setText(this.progress, isComplete ? `by ${player}; ${exact} of ${total} solved exactly` : progress);
    names.forEach((name, player) => setText(this.heads[player], name));
    const accuracies = review.accuracies.map((each) => (each === null ? "–" : chance(each)));
    const rows = [["accuracy", ...accuracies]];
    for (const [name, words] of COUNTS) {
      rows.push([words, ...review.counts.map((count) => count[name])]);
    }
    reuseChildren(this.rows, rows.length, makeRow);
    rows.forEach((row, index) => {
      row.forEach((text, column) => setText(this.rows.children[index].children[column], String(text)));
    });
    this.showMistakes(review.mistakes);
  }

  /** Go to a move of the game, also from a detour. */
  async open(ply) {
    if (this.view.detour) await this.send("return");
    this.goTo(ply);
  }

  showMistakes(bad) {
    reuseChildren(this.mistakes, bad.length, makeMistake);
    bad.forEach((move, index) => {
      const item = this.mistakes.children[index];
      const [head, words, better, again] = item.children;
      const { ply, player, review } = move;
      const name = `${ply}. ${this.view.side_names[player]} ${judgedName(move)}`;
      setText(head, name);
      setAttribute(head, "aria-label", `Go to ${name}, ${review.judgement}`);
      const end = review.better.end ? `, which ${review.better.end}` : "";
      const fall = `${chance(review.before)} → ${chance(review.after)}`;
      const answer = `better was ${review.better.name}${end}`;
      const isAsked = this.view.detour?.kind === "retry" && this.view.detour.ply === ply;
      setText(words, `${fall}; ${isAsked ? "find a better move" : answer}`);
      setAttribute(better, "aria-label", `Show the better line than ${name}`);
      setAttribute(again, "aria-label", `Try again in place of ${name}`);
      item.className = review.judgement;
      head.onclick = () => this.open(ply);
      better.onclick = () => this.send("better", { ply });
      again.onclick = () => this.send("retry", { ply });
    });
  }
}

/** What to do on a detour from the game, and the way back. */
class DetourBar {
  constructor(send) {
    this.words = make("p", { "aria-live": "polite" });
    const button = (text, action) => {
      const made = make("button", { type: "button" }, text);
      press(made, action);
      return made;
    };
    const at = () => ({ ply: this.view.detour.ply });
    this.again = button("Try again", () => send("retry", at()));
    this.better = button("Show the better line", () => send("better", at()));
    this.back = button("Back to the game", () => send("return"));
    const row = make("div", { class: "row" }, this.again, this.better, this.back);
    this.root = make("div", { class: "detour" }, this.words, row);
  }

  show(view) {
    this.view = view;
    const { detour } = view;
    this.root.hidden = !detour;
    if (!detour) return;
    setText(this.words, detourText(detour));
    this.again.hidden = !detour.attempt && detour.kind === "retry";
    this.better.hidden = detour.kind === "better";
  }
}

function buttonText(review) {
  if (!review) return "Review the game";
  if (review.running) return "Leave the review";
  return review.done < review.total ? "Go on with the review" : "Reviewed";
}

function detourText({ kind, name, attempt }) {
  if (kind === "better") return `Better than ${name}: step through the line by the arrows.`;
  if (!attempt) return `Find a better move than ${name}: play it on the board.`;
  if (!attempt.judgement) return `${attempt.name}: searching …`;
  const word = { best: "the best move", good: "good" }[attempt.judgement];
  if (word) return `${attempt.name}: ${word}, ${chance(attempt.after)}.`;
  const bad = attempt.judgement === "inaccuracy" ? "an inaccuracy" : `a ${attempt.judgement}`;
  return `${attempt.name}: ${bad}, ${chance(attempt.after)}. Try again.`;
}

function makeRow() {
  return make("tr", {}, make("th", { scope: "row" }), make("td"), make("td"));
}

function makeMistake() {
  return make(
    "li",
    {},
    make("button", { type: "button", class: "head" }),
    make("span"),
    make("button", { type: "button" }, "Show"),
    make("button", { type: "button" }, "Try again"),
  );
}
