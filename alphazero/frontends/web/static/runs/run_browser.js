// The run browser: progress and curves of a run, its iterations, their games, and opening one on
// the board. A run in training is followed.

import { readCharts, readGames, readRun } from "../lib/api.js";
import { count, make, percent, press, setEnabled, setOptions, setText } from "../lib/dom.js";
import { RunCurves } from "./run_curves.js";

const KINDS = { selfplay: "self-play", gate: "gate" };

export class Runs {
  /** Calls `open(game)`, `play(run)` for its best network, `renew()` for a new one, `fail(error)`. */
  constructor(root, runs, { open, play, renew, fail }) {
    this.open = open;
    this.renew = renew;
    this.fail = fail;
    root.hidden = runs.length === 0;
    this.runs = runs;
    this.run = make("select", { "aria-label": "Run", change: () => this.chooseRun() });
    this.progress = make("p", { class: "caption" });
    this.playBest = make("button", { type: "button" }, "Play the best network");
    press(this.playBest, () => play(this.current));
    this.curves = new RunCurves(make("div", { class: "curves", hidden: "" }));
    this.iteration = make("select", {
      "aria-label": "Iteration", change: () => this.chooseIteration(),
    });
    this.earlier = this.makeStep("◀", "Earlier iteration", 1);
    this.later = this.makeStep("▶", "Later iteration", -1);
    this.games = make("ol", { class: "games", "aria-label": "Games of the iteration" });
    root.append(
      make("div", { class: "row" }, this.run, this.playBest), this.progress, this.curves.root,
      make("div", { class: "row" }, this.earlier, this.iteration, this.later), this.games,
    );
    setOptions(this.run, runs.map(({ name, game }) => [name, `${name} (${game})`]));
    if (runs.length > 0) this.chooseRun();
  }

  get current() {
    return this.runs.find(({ name }) => name === this.run.value);
  }

  makeStep(text, label, by) {
    const button = make("button", { type: "button", "aria-label": label, title: label }, text);
    press(button, () => {
      this.iteration.selectedIndex += by;
      this.chooseIteration();
    });
    return button;
  }

  /** Update the progress of the runs; reload the shown one if it has gone on. */
  follow(runs) {
    const before = this.runs;
    this.runs = runs;
    const changed = (name, key) =>
      before.find((each) => each.name === name)?.[key] !== this.find(name)[key];
    if (runs.some(({ name }) => changed(name, "loads"))) this.renew();
    if (this.current && changed(this.run.value, "iteration")) this.refresh();
    this.showProgress();
  }

  find(run) {
    return this.runs.find(({ name }) => name === run);
  }

  showProgress() {
    const { player, iteration, games, best_step: step, budget_spent: spent } = this.current;
    this.playBest.hidden = !player;
    if (iteration === undefined) return;
    const parts = [`iteration ${count(iteration)}, ${count(games)} games`];
    parts.push(spent >= 1 ? "its budget is spent" : `${percent(spent)} of its budget`);
    parts.push(`new games play the network after ${count(step)} steps`);
    setText(this.progress, parts.join(" · "));
  }

  async chooseRun() {
    this.iteration.replaceChildren();
    delete this.iteration.dataset.key;
    this.games.replaceChildren();
    this.showProgress();
    await this.refresh();
  }

  /** Read the run again; stay at the newest iteration, unless a game or another one was chosen. */
  async refresh() {
    const run = this.run.value;
    const [{ iterations }, { charts }] = await Promise.all([
      this.read(() => readRun(run), { iterations: [] }),
      this.read(() => readCharts(run), { charts: [] }),
    ]);
    if (run !== this.run.value) return;
    this.curves.show(charts);
    // Newest first, for watching a run.
    const pairs = iterations.map(({ iteration, kind }) => [
      `${iteration} ${kind}`, KINDS[kind] ? `iteration ${iteration}, ${KINDS[kind]}` : "all games",
    ]);
    const chosen = this.iteration.value;
    const hasOpen = this.games.querySelector("[aria-pressed=true]") !== null;
    const stays = (hasOpen || this.iteration.selectedIndex > 0)
      && pairs.some(([value]) => value === chosen);
    setOptions(this.iteration, pairs, stays ? chosen : pairs[0]?.[0]);
    if (stays) this.enableSteps();
    else if (pairs.length > 0) await this.chooseIteration();
  }

  async chooseIteration() {
    const chosen = this.iteration.value;
    const [iteration, kind] = chosen.split(" ");
    const at = { run: this.run.value, iteration: Number(iteration), kind };
    const { games } = await this.read(() => readGames(at.run, at.iteration, kind), { games: [] });
    if (at.run !== this.run.value || chosen !== this.iteration.value) return;
    this.enableSteps();
    this.games.replaceChildren(...games.map((game) => this.makeGame(at, game)));
  }

  enableSteps() {
    const position = this.iteration.selectedIndex;
    setEnabled(this.earlier, position < this.iteration.options.length - 1);
    setEnabled(this.later, position > 0);
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
