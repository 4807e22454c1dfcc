// The run browser: iterations, their games, and opening one on the board.

import { readGames, readRun } from "../lib/api.js";
import { make, press, setEnabled, setOptions } from "../lib/dom.js";

const KINDS = { selfplay: "self-play", gate: "gate" };

export class Runs {
  /** `open({run, iteration, kind, game})` is called for a game, `fail(error)` for an error. */
  constructor(root, runs, { open, fail }) {
    this.open = open;
    this.fail = fail;
    root.hidden = runs.length === 0;
    this.run = make("select", { "aria-label": "Run", change: () => this.chooseRun() });
    this.iteration = make("select", {
      "aria-label": "Iteration", change: () => this.chooseIteration(),
    });
    this.earlier = this.makeStep("◀", "Earlier iteration", 1);
    this.later = this.makeStep("▶", "Later iteration", -1);
    this.games = make("ol", { class: "games", "aria-label": "Games of the iteration" });
    const choice = [this.run, this.earlier, this.iteration, this.later];
    root.append(make("div", { class: "row" }, ...choice), this.games);
    setOptions(this.run, runs.map(({ name, game }) => [name, `${name} (${game})`]));
    if (runs.length > 0) this.chooseRun();
  }

  makeStep(text, label, by) {
    const button = make("button", { type: "button", "aria-label": label, title: label }, text);
    press(button, () => {
      this.iteration.selectedIndex += by;
      this.chooseIteration();
    });
    return button;
  }

  async chooseRun() {
    const { iterations } = await this.read(() => readRun(this.run.value), { iterations: [] });
    // Newest first, for watching a run.
    const pairs = iterations.map(({ iteration, kind }) => [
      `${iteration} ${kind}`, `iteration ${iteration}, ${KINDS[kind]}`,
    ]);
    setOptions(this.iteration, pairs, pairs[0]?.[0]);
    if (pairs.length > 0) await this.chooseIteration();
  }

  async chooseIteration() {
    const [iteration, kind] = this.iteration.value.split(" ");
    const at = { run: this.run.value, iteration: Number(iteration), kind };
    const { games } = await this.read(() => readGames(at.run, at.iteration, kind), { games: [] });
    const position = this.iteration.selectedIndex;
    setEnabled(this.earlier, position < this.iteration.options.length - 1);
    setEnabled(this.later, position > 0);
    this.games.replaceChildren(...games.map((game) => this.makeGame(at, game)));
  }

  makeGame(at, { index, moves, result, text }) {
    const button = make("button", { type: "button", "aria-pressed": "false" });
    button.append(`${index + 1}. ${text || `${result}, ${moves} moves`}`);
    button.addEventListener("click", () => {
      this.games.querySelector("[aria-pressed=true]")?.setAttribute("aria-pressed", "false");
      button.setAttribute("aria-pressed", "true");
      this.open({ ...at, game: index });
    });
    return make("li", {}, button);
  }

  async read(query, fallback) {
    try {
      return await query();
    } catch (error) {
      this.fail(error);
      return fallback;
    }
  }
}
