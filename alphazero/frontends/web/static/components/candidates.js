// Search results: values with and without search, and a table of candidate moves.

import { chance, count, make, percent, reuseChildren, setAttribute, setText } from "../lib/dom.js";
import { LineTree } from "./line_tree.js";
import { bestByPrior } from "./search_result.js";

/** Maximum rows: the server sends lines only for them. The board shows more moves. */
const MAX_ROWS = 8;
const COLUMNS = ["Move", "Wins", "Visits", "Share", "Prior", "Line"];

export class Candidates {
  /**
   * `play(action)` is called when a move is pressed, `show(candidate)` when a row gets the mouse
   * or the focus, `show(null)` when no row has them.
   */
  constructor(root, { play, show }) {
    this.play = play;
    this.showLine = show;
    this.caption = make("p", { class: "caption", id: "caption" });
    this.summaries = make("div", { class: "summaries" });
    this.rows = make("tbody");
    const heads = COLUMNS.map((name) => make("th", { scope: "col" }, name));
    this.table = make(
      "table",
      { class: "candidates", "aria-label": "Candidate moves, best first" },
      make("thead", {}, make("tr", {}, ...heads)),
      this.rows,
    );
    this.network = new SearchSummary("Without search", "prior");
    this.search = new SearchSummary("With search", "visits");
    this.summaries.append(this.network.root, this.search.root);
    const tree = make("div", { class: "line-tree", hidden: "" });
    this.tree = new LineTree(tree, (line) => this.showLine({ line }));
    root.append(this.summaries, this.table, tree, this.caption);
    this.rows.addEventListener("pointerover", (event) => this.onPointer(event));
    this.rows.addEventListener("focusin", (event) => this.onPointer(event));
    this.rows.addEventListener("click", (event) => this.onPointer(event));
    this.rows.addEventListener("pointerleave", () => this.onLeave());
    this.rows.addEventListener("focusout", () => this.onLeave());
    /** The candidates, in row order. */
    this.candidates = [];
  }

  /**
   * Show a search result, or null; `end` is how the game will end, or null.
   * @param {import("../../types").View} view
   * @param {import("../../types").Result} result
   * @param {import("../../types").End} end
   */
  show(view, result, end) {
    setText(this.caption, captionFor(view, result));
    this.summaries.hidden = this.table.hidden = !result;
    const position = `${view.id} ${view.moves.slice(0, view.ply).map(({ name }) => name)}`;
    if (position !== this.position || !result) {
      this.pointed = null;
      this.tree.show(null);
    }
    this.candidates = result ? this.ordered(result, position === this.position) : [];
    this.position = position;
    reuseChildren(this.rows, this.candidates.length, makeRow);
    this.candidates.forEach((candidate, index) => this.fill(this.rows.children[index], candidate));
    if (result) this.compare(view, result, end);
  }

  /** Best first; but while a row has the mouse or the focus, rows keep their order. */
  ordered(result, same) {
    const best = result.candidates.slice(0, MAX_ROWS);
    if (!same || !this.pointed) return best;
    const known = new Map(result.candidates.map((one) => [one.action, one]));
    const kept = this.candidates.map(({ action }) => known.get(action)).filter(Boolean);
    const added = best.filter(({ action }) => !kept.some((one) => one.action === action));
    return [...kept, ...added].slice(0, MAX_ROWS);
  }

  fill(row, candidate) {
    const { name, visits, share, value, prior, line } = candidate;
    const [moveCell, valueCell, visitsCell, shareCell, priorCell, lineCell] = row.children;
    const button = moveCell.firstChild;
    setText(button, name);
    setAttribute(button, "aria-label", `Play ${name}`);
    button.onclick = () => this.play(candidate.action);
    setText(visitsCell, visits === null ? "–" : count(visits));
    setBar(shareCell, share);
    setText(valueCell, value === null ? "–" : chance(value));
    setBar(priorCell, prior);
    const moves = line.map((one) => one.name).join(" ");
    const opener = lineCell.firstChild;
    setText(opener, moves);
    opener.hidden = moves === "";
    setAttribute(opener, "aria-label", `Answers to ${name}: ${moves}`);
    setAttribute(opener, "title", moves);
    opener.onclick = () => this.tree.show(candidate);
  }

  compare({ to_play, side_names: names }, result, end) {
    const { value, network_value, candidates } = result;
    const name = names[to_play];
    const preferred = candidates.length > 0 ? bestByPrior(result).name : "";
    const margin = end?.margin ? `${end.margin} expected, ` : "";
    this.network.show(network_value, `for ${name}, ${margin}would play ${preferred}`);
    this.search.show(value, `for ${name}, would play ${candidates[0]?.name ?? ""}`);
  }

  onPointer(event) {
    const row = event.target.closest("tr");
    const candidate = this.candidates[[...this.rows.children].indexOf(row)];
    if (!candidate || this.pointed === candidate.action) return;
    this.pointed = candidate.action;
    this.showLine(candidate);
  }

  onLeave() {
    if (this.rows.matches(":hover") || this.rows.contains(document.activeElement)) return;
    this.pointed = null;
    this.showLine(null);
  }
}

/** A win chance as a number, a bar from the middle and words. */
class SearchSummary {
  constructor(name, colour) {
    this.number = make("strong");
    this.words = make("span");
    this.bar = make("span", { class: `fill ${colour}` });
    this.root = make(
      "div",
      { class: "summary" },
      make("p", { class: "name" }, name),
      make("div", { class: "balance", "aria-hidden": "true" }, this.bar),
      make("p", {}, this.number, " ", this.words),
    );
  }

  show(value, words) {
    setText(this.number, value === null ? "–" : chance(value));
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
    make("td"),
    bar("visits"),
    bar("prior"),
    make("td", { class: "line" }, make("button", { type: "button", class: "plain" })),
  );
}

function setBar(cell, share) {
  setText(cell.firstChild, percent(share));
  cell.lastChild.style.width = `${100 * share}%`;
}

function captionFor(view, result) {
  if (result?.recorded) return "From the run: the recorded search, next to the current network.";
  if (result) {
    const speed = result.per_second ? `, ${count(result.per_second)} a second` : "";
    const proof = result.proof ? `Proven: ${result.proof}. ` : "";
    return `${proof}${count(result.simulations)} simulations${speed}`;
  }
  if (view.over) return "The game is over.";
  return "No search here yet. Hint searches once; Analyze searches until you stop it.";
}
