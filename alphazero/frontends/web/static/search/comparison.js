// Two players on one position: what each thinks of the moves, side by side.

import { byId, chance, count, make, setText } from "../lib/dom.js";
import { MoveTable, setShare } from "./move_table.js";

/** Moves of each player that are shown. */
const MOVES = 5;

export class Comparison {
  /** `play(action)` and `point(move)` are those of a `MoveTable`. */
  constructor(moves) {
    this.root = byId("comparison");
    this.names = make("p", { class: "names" });
    const columns = [["Wins"], ["Share", "visits"], ["Wins", "beside"], ["Share", "prior"]];
    this.table = new MoveTable("What two players think of the moves", columns, moves);
    this.root.append(this.names, this.table.root);
  }

  /** @param {import("../../types").View} view */
  show({ search, second, analysis_player: first, second_player: other }) {
    this.root.hidden = !search || !second;
    if (!search || !second) return;
    const words = (name, { value, simulations }) =>
      `${name}: wins ${chance(value)}, ${count(simulations)} simulations`;
    this.names.replaceChildren(
      make("span", { class: "visits" }, words(first, search)), " ",
      make("span", { class: "prior" }, words(other, second)),
    );
    const opinions = new Map(second.candidates.map((one) => [one.action, one]));
    const own = new Map(search.candidates.map((one) => [one.action, one]));
    const best = [search, second].flatMap(({ candidates }) => candidates.slice(0, MOVES));
    const moves = [...new Map(best.map((one) => [one.action, one])).values()];
    this.table.show(moves, (cells, { action }) => {
      showOpinion(cells.slice(0, 2), own.get(action));
      showOpinion(cells.slice(2), opinions.get(action));
    });
  }
}

/**
 * @param {any[]} cells
 * @param {import("../../types").Candidate | undefined} candidate
 */
function showOpinion([wins, share], candidate) {
  setText(wins, candidate?.visits ? chance(candidate.value) : "–");
  setShare(share, candidate?.share ?? 0);
}
