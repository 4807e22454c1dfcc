// Search results: values with and without search, and a table of candidate moves.

import { chance, count, make, setAttribute, setText } from "../lib/dom.js";
import { LineTree } from "./line_tree.js";
import { MoveTable, setShare } from "./move_table.js";
import { bestByPrior } from "./search_result.js";

/** Maximum rows: the server sends lines only for them. The board shows more moves. */
const MAX_ROWS = 8;
const COLUMNS = [["Wins"], ["Visits"], ["Share", "visits"], ["Prior", "prior"], ["Line", "line"]];

export class Candidates {
  /**
   * `play(action)` is called when a move is pressed, `show(candidate)` when a row gets the mouse
   * or the focus, `show(null)` when no row has them.
   */
  constructor(root, { play, show }) {
    this.caption = make("p", { class: "caption", id: "caption" });
    this.summaries = make("div", { class: "summaries" });
    this.table = new MoveTable("Candidate moves, best first", COLUMNS, { play, point: show });
    this.network = new SearchSummary("Without search", "prior");
    this.search = new SearchSummary("With search", "visits");
    this.summaries.append(this.network.root, this.search.root);
    const tree = make("div", { class: "line-tree", hidden: "" });
    this.tree = new LineTree(tree, (line) => show({ line }));
    root.append(this.summaries, this.table.root, tree, this.caption);
  }

  /**
   * Show a search result, or null; `end` is how the game will end, or null.
   * @param {import("../../types").View} view
   * @param {import("../../types").Result} result
   * @param {import("../../types").End} end
   */
  show(view, result, end) {
    setText(this.caption, captionFor(view, result));
    this.summaries.hidden = this.table.root.hidden = !result;
    const position = `${view.id} ${view.moves.slice(0, view.ply).map(({ name }) => name)}`;
    if (position !== this.position || !result) {
      this.table.pointed = null;
      this.tree.show(null);
    }
    const candidates = result ? this.ordered(result, position === this.position) : [];
    this.position = position;
    this.table.show(candidates, (cells, candidate) => this.fill(cells, candidate));
    if (result) this.compare(view, result, end);
  }

  /** Best first; but while a row has the mouse or the focus, rows keep their order. */
  ordered(result, same) {
    const best = result.candidates.slice(0, MAX_ROWS);
    if (!same || this.table.pointed === null) return best;
    const known = new Map(result.candidates.map((one) => [one.action, one]));
    const kept = this.table.moves.map(({ action }) => known.get(action)).filter(Boolean);
    const added = best.filter(({ action }) => !kept.some((one) => one.action === action));
    return [...kept, ...added].slice(0, MAX_ROWS);
  }

  fill([valueCell, visitsCell, shareCell, priorCell, lineCell], candidate) {
    const { name, visits, share, value, prior, line } = candidate;
    setText(visitsCell, visits === null ? "–" : count(visits));
    setShare(shareCell, share);
    setText(valueCell, value === null ? "–" : chance(value));
    setShare(priorCell, prior);
    const moves = line.map((one) => one.name).join(" ");
    if (!lineCell.firstChild) lineCell.append(make("button", { type: "button", class: "plain" }));
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
