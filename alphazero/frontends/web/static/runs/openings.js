// The opening explorer: the moves that the games of a run or a file made in the shown position.

import { readOpenings } from "../lib/api.js";
import { byId, count, make, percent, setOptions, setText } from "../lib/dom.js";
import { MoveTable, setShare } from "../search/move_table.js";

const COLUMNS = [["Games"], ["Share", "visits"], ["Scores"], ["Over time", "periods"]];

export class Openings {
  /** `play(action)` and `point(move)` are those of a `MoveTable`, `fail(error)` is for an error. */
  constructor({ play, point, fail }) {
    this.card = byId("openings");
    this.fail = fail;
    this.source = make("select", { "aria-label": "Games", change: () => this.read() });
    this.caption = make("p", { class: "caption" });
    this.table = new MoveTable("Moves of the games, the most frequent first", COLUMNS, { play, point });
    this.card.append(make("div", { class: "row" }, this.source), this.table.root, this.caption);
  }

  /** @param {import("../../types").View} view */
  show(view) {
    this.card.hidden = view.archives.length === 0;
    const names = view.archives.map((name) => [name, name]);
    setOptions(this.source, [["", "Choose games"], ...names]);
    const moves = view.moves.slice(0, view.ply).map(({ name }) => name);
    const position = JSON.stringify([view.id, view.game, moves]);
    if (position === this.position) return;
    this.position = position;
    this.session = view.id;
    this.read();
  }

  async read() {
    const [run, position] = [this.source.value, this.position];
    this.table.root.hidden = run === "";
    setText(this.caption, run ? "Counting …" : "See which moves these games made here.");
    if (run === "") return;
    try {
      const found = await readOpenings(this.session, run);
      if (run === this.source.value && position === this.position) this.showMoves(found);
    } catch (error) {
      this.source.value = "";
      this.table.root.hidden = true;
      setText(this.caption, "");
      this.fail(error);
    }
  }

  /** @param {import("../../types").Openings} found */
  showMoves({ groups, games, moves }) {
    this.table.root.hidden = moves.length === 0;
    this.table.show(moves, ([number, share, score, periods], move) => {
      setText(number, count(move.games));
      setShare(share, move.games / games);
      setText(score, move.score === null ? "–" : percent(move.score));
      showPeriods(periods, groups, move.shares);
    });
    const over = groups.length > 1 ? ` Over time: share in ${groups.join(", ")}.` : "";
    const words = `${count(games)} game${games === 1 ? "" : "s"} in this position.`;
    setText(this.caption, words + (games > 0 ? over : ""));
  }
}

/** Draw a move's share in each period as a column. */
function showPeriods(cell, groups, shares) {
  const words = groups.map((group, index) => {
    return `${group}: ${shares[index] === null ? "no game" : percent(shares[index])}`;
  });
  const columns = shares.map((share) => {
    const column = make("span", {});
    column.style.height = `${Math.max(100 * (share ?? 0), 4)}%`;
    return column;
  });
  const label = words.join(", ");
  const about = { class: "columns", role: "img", title: label, "aria-label": label };
  cell.replaceChildren(make("span", about, ...columns));
}
