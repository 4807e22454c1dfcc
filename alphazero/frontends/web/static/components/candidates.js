// Search results: a table of candidate moves. A button plays a move; the board shows the line of
// the row under the mouse or the focus.

import {
  chance, count, countSimulations, make, percent, reuseChildren, setAttribute, setText,
} from "../lib/dom.js";
import { endOf } from "./layers.js";

/** Maximum rows: the server sends lines only for them. The board shows more moves. */
const MAX_ROWS = 8;

/** Return a text that differs between all positions. */
export const positionOf = ({ id, game, start, moves, ply }) => (
  [id, game, start, ...moves.slice(0, ply).map(({ name }) => name)].join(" ")
);

export class Candidates {
  /** `play(action, click)` plays a move; `show(line)` shows a line on the board, `show(null)` none. */
  constructor(root, { play, show }) {
    this.play = play;
    this.showLine = show;
    this.moves = [];
    /** The action whose row has the mouse or the focus. */
    this.pointed = null;
    this.caption = make("p", { class: "caption", id: "caption" });
    this.rows = make("tbody");
    const heads = ["Move", "Wins", "Visits", "Share", "Prior", "Line"];
    const head = make("tr", {}, ...heads.map((name) => make("th", { scope: "col" }, name)));
    const label = { class: "move-table", "aria-label": "Candidate moves, best first" };
    this.table = make("table", label, make("thead", {}, head), this.rows);
    for (const type of ["pointerover", "focusin", "click"]) {
      this.rows.addEventListener(type, (event) => this.onPointer(event));
    }
    for (const type of ["pointerleave", "focusout"]) {
      this.rows.addEventListener(type, () => this.onLeave());
    }
    root.append(this.table, this.caption);
  }

  show(view) {
    const { search } = view;
    setText(this.caption, captionFor(view));
    this.table.hidden = !search;
    const position = positionOf(view);
    if (position !== this.position) this.pointed = null;
    this.position = position;
    this.moves = search ? this.ordered(search.candidates) : [];
    reuseChildren(this.rows, this.moves.length, makeRow);
    this.moves.forEach((move, index) => this.fill(this.rows.children[index], move));
  }

  /** Best first; but while a row has the mouse or the focus, rows keep their order. */
  ordered(candidates) {
    const best = candidates.slice(0, MAX_ROWS);
    if (this.pointed === null) return best;
    const byAction = new Map(candidates.map((candidate) => [candidate.action, candidate]));
    const former = this.moves.map(({ action }) => byAction.get(action)).filter(Boolean);
    return [...new Set([...former, ...best])].slice(0, MAX_ROWS);
  }

  fill(row, { action, name, visits, share, value, prior, line }) {
    const [head, valueCell, visitsCell, shareCell, priorCell, lineCell] = row.children;
    const button = head.firstChild;
    setText(button, name);
    setAttribute(button, "aria-label", `Play ${name}`);
    button.onclick = (click) => this.play(action, click);
    setText(valueCell, value === null ? "–" : chance(value));
    setText(visitsCell, count(visits));
    for (const [cell, part] of [[shareCell, share], [priorCell, prior]]) {
      setText(cell.firstChild, percent(part));
      cell.lastChild.style.width = `${100 * part}%`;
    }
    const moves = line.map((move) => move.name).join(" ");
    setText(lineCell, moves);
    setAttribute(lineCell, "title", moves);
  }

  onPointer({ target }) {
    const move = this.moves[[...this.rows.children].indexOf(target.closest("tr"))];
    if (!move || this.pointed === move.action) return;
    this.pointed = move.action;
    this.showLine(move.line);
  }

  onLeave() {
    if (this.rows.matches(":hover") || this.rows.contains(document.activeElement)) return;
    this.pointed = null;
    this.showLine(null);
  }
}

function makeRow() {
  const bar = (kind) => make("td", { class: "share" }, make("span"), make("span", { class: `fill ${kind}` }));
  const head = make("th", { scope: "row" }, make("button", { type: "button" }));
  return make(
    "tr", {}, head, make("td"), make("td"), bar("visits"), bar("prior"), make("td", { class: "line" }),
  );
}

/** Describe a search: what it and the network alone think of the side to move, and its size. */
function captionFor(view) {
  const { search, over, thinking, side_names: names, to_play: player } = view;
  if (!search) {
    if (over) return "The game is over.";
    if (thinking) return "Searching.";
    return "No search here yet. Hint searches once; Analyze searches until you stop it.";
  }
  const speed = search.per_second ? `, ${count(search.per_second)} a second` : "";
  const margin = endOf(view)?.margin;
  const [alone, before] = [search.simulations === 0, search.network_value];
  return [
    `${names[player]} wins ${chance(search.value)}`,
    alone ? " by the network alone. " : before === null ? ". " : `; ${chance(before)} without search. `,
    search.proof ? `Proven: ${search.proof}. ` : "",
    margin ? `Expected: ${margin}. ` : "",
    alone ? "" : `${countSimulations(search.simulations)}${speed}.`,
  ].join("");
}
