// Search results: values with and without search, and a table of candidate moves.

import { count, make, match, percent, setAttribute, setText, signed } from "../lib/dom.js";
import { favourite } from "./search_result.js";

/** Maximum rows: the server sends lines only for them. The board shows more moves. */
const MOST = 8;
const COLUMNS = ["Move", "Visits", "Share", "Value", "Prior", "Line"];

export class Candidates {
  /**
   * `play(action)` is called when a move is pressed, `show(candidate)` when a row gets the mouse
   * or the focus, `show(null)` when it loses them.
   */
  constructor(root, { play, show }) {
    this.play = play;
    this.showLine = show;
    this.note = make("p", { class: "note", id: "note" });
    this.opinions = make("div", { class: "opinions" });
    this.rows = make("tbody");
    const heads = COLUMNS.map((name) => make("th", { scope: "col" }, name));
    this.table = make(
      "table",
      { class: "candidates", "aria-label": "Candidate moves, the best first" },
      make("thead", {}, make("tr", {}, ...heads)),
      this.rows,
    );
    this.network = new Opinion("Without search", "prior");
    this.search = new Opinion("With search", "visits");
    this.opinions.append(this.network.root, this.search.root);
    root.append(this.opinions, this.table, this.note);
    this.rows.addEventListener("pointerover", (event) => this.point(event));
    this.rows.addEventListener("focusin", (event) => this.point(event));
    this.rows.addEventListener("click", (event) => this.point(event));
    this.rows.addEventListener("pointerleave", () => this.leave());
    this.rows.addEventListener("focusout", () => this.leave());
    /** The candidates, in row order. */
    this.shown = [];
  }

  show(view, opinion) {
    setText(this.note, noteOn(view, opinion));
    this.opinions.hidden = this.table.hidden = !opinion;
    const position = `${view.id} ${view.moves.slice(0, view.ply).map(({ name }) => name)}`;
    if (position !== this.position) this.pointed = null;
    this.shown = opinion ? this.ordered(opinion, position === this.position) : [];
    this.position = position;
    match(this.rows, this.shown.length, makeRow);
    this.shown.forEach((candidate, index) => this.fill(this.rows.children[index], candidate));
    if (opinion) this.compare(view, opinion);
  }

  /** Best first; but while a row has the mouse or the focus, rows keep their order. */
  ordered(opinion, same) {
    const best = opinion.candidates.slice(0, MOST);
    if (!same || !this.pointed) return best;
    const known = new Map(opinion.candidates.map((one) => [one.action, one]));
    const kept = this.shown.map(({ action }) => known.get(action)).filter(Boolean);
    const added = best.filter(({ action }) => !kept.some((one) => one.action === action));
    return [...kept, ...added].slice(0, MOST);
  }

  fill(row, candidate) {
    const { name, visits, share, value, prior, line } = candidate;
    const [move, number, part, worth, first, follow] = row.children;
    setText(move.firstChild, name);
    setAttribute(move.firstChild, "aria-label", `Play ${name}`);
    move.firstChild.onclick = () => this.play(candidate.action);
    setText(number, visits === null ? "–" : count(visits));
    setBar(part, share);
    setText(worth, value === null ? "–" : signed(value));
    setBar(first, prior);
    const words = line.map((one) => one.name).join(" ");
    setText(follow, words);
    setAttribute(follow, "title", words);
  }

  compare({ to_play, signs }, opinion) {
    const { value, first_value, candidates } = opinion;
    const sign = signs[to_play];
    const liked = candidates.length > 0 ? favourite(opinion).name : "";
    this.network.show(first_value, `for ${sign}, would play ${liked}`);
    this.search.show(value, `for ${sign}, would play ${candidates[0]?.name ?? ""}`);
  }

  point(event) {
    const row = event.target.closest("tr");
    const candidate = this.shown[[...this.rows.children].indexOf(row)];
    if (!candidate || this.pointed === candidate.action) return;
    this.pointed = candidate.action;
    this.showLine(candidate);
  }

  leave() {
    if (this.rows.matches(":hover") || this.rows.contains(document.activeElement)) return;
    this.pointed = null;
    this.showLine(null);
  }
}

/** A value as a number, a centred bar and words. */
class Opinion {
  constructor(name, colour) {
    this.number = make("strong");
    this.words = make("span");
    this.bar = make("span", { class: `fill ${colour}` });
    this.root = make(
      "div",
      { class: "opinion" },
      make("p", { class: "name" }, name),
      make("div", { class: "balance", "aria-hidden": "true" }, this.bar),
      make("p", {}, this.number, " ", this.words),
    );
  }

  show(value, words) {
    setText(this.number, value === null ? "–" : signed(value));
    setText(this.words, words);
    const size = Math.abs(value ?? 0) * 50;
    this.bar.style.left = `${(value ?? 0) < 0 ? 50 - size : 50}%`;
    this.bar.style.width = `${size}%`;
  }
}

function makeRow() {
  const bar = (kind) =>
    make("td", { class: "share" }, make("span"), make("span", { class: `fill ${kind}` }));
  return make(
    "tr",
    {},
    make("th", { scope: "row" }, make("button", { type: "button" })),
    make("td"),
    bar("visits"),
    make("td"),
    bar("prior"),
    make("td", { class: "line" }),
  );
}

function setBar(cell, share) {
  setText(cell.firstChild, percent(share));
  cell.lastChild.style.width = `${100 * share}%`;
}

function noteOn(view, opinion) {
  if (opinion?.recorded) return "From the run: its search then, beside the network of today.";
  if (opinion) {
    const speed = opinion.per_second ? `, ${count(opinion.per_second)} a second` : "";
    return `${count(opinion.simulations)} simulations${speed}`;
  }
  if (view.over) return "The game is over: there is nothing to search.";
  return "Nothing was searched here yet. Hint searches once, Analyze goes on until you stop it.";
}
