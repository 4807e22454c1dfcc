// The players of both sides: a person, or an engine with a level or a custom budget.

import { make, press, reuseChildren, setAttribute, setOptions, setText } from "../lib/dom.js";

const PERSON = "person";
const LEVELS = "levels";
const CUSTOM = { simulations: "custom simulations", seconds: "custom seconds" };
/** Initial number of "custom simulations". */
const DEFAULT_SIMULATIONS = 100;

/** Level of a player that was not yet given another. */
const DEFAULT_LEVEL = 4;

/** Return a game's name and options, sorted and without some: "go:rows=7,komi_half_points=9" as
 * "go,rows=7". */
function without(game, options) {
  const [name, given = ""] = game.split(":");
  const kept = given.split(",").filter((each) => each && !options.includes(each.split("=")[0]));
  return [name, ...kept.sort()].join();
}

/** Whether a player is made for a game, which may differ in options that its network sees. */
function isMadeFor({ game, free_options: free }, other) {
  return game !== null && without(game, free) === without(other, free);
}

/**
 * Return the players that can play a game.
 * @param {import("../../types").Setup} setup
 * @param {string} game
 */
export function playersOf(setup, game) {
  return setup.players.filter((player) => player.game === null || isMadeFor(player, game));
}

/** Return a side with a player as the command line gives it, or at a level in the middle. */
export function defaultSide(player) {
  if (player.levels.length > 0 && !player.has_own_budget) {
    return { player: player.name, level: player.own_level ?? DEFAULT_LEVEL };
  }
  const { simulations, seconds } = player.budgets[player.default_budget] ?? {};
  return { player: player.name, simulations: simulations ?? null, seconds: seconds ?? null };
}

/** Format a budget, with its rating if measured, in `game` or else in the player's own game:
 * "64 simulations · Elo 812 (790 to 834)"; a null end of the interval is open. */
export function budgetText({ label, by_game }, game, own) {
  const rating = by_game[game] ?? by_game[own];
  if (!rating) return label;
  const low = rating.low === null ? "−∞" : Math.round(rating.low);
  const high = rating.high === null ? "∞" : Math.round(rating.high);
  return `${label} · Elo ${Math.round(rating.elo)} (${low} to ${high})`;
}

/** Describe a level for people; undefined if none is chosen. */
function strengthOf(level) {
  return level ? `level ${level.number}: ${level.name} · ${level.strength}` : "a level for people";
}

/** The controls of one side. */
class SideControls {
  constructor(index, changed) {
    this.changed = changed;
    this.sign = make("span", { class: "sign" });
    const who = `Player ${index + 1}`;
    this.player = make("select", {
      class: "player", "aria-label": who, change: () => this.choosePlayer(),
    });
    this.level = make("select", {
      class: "level", "aria-label": `${who}: strength`, change: () => this.chooseLevel(),
    });
    this.number = make("input", {
      type: "number", min: 0, step: "any", "aria-label": `${who}: budget`,
      change: () => this.chooseNumber(),
    });
    this.levels = make("div", { class: "levels", role: "group", "aria-label": `${who}: level` });
    const colour = index === 0 ? "first" : "second";
    const stone = make("span", { class: `stone ${colour}`, "aria-hidden": "true" });
    const parts = [stone, this.sign, this.player, this.levels, this.level, this.number];
    this.root = make("div", { class: "side-controls" }, ...parts);
  }

  show(players, game, side, name) {
    this.players = players;
    this.side = side;
    this.sign.textContent = name;
    const names = players.map(({ name }) => [name, name]);
    setOptions(this.player, [[PERSON, "Person"], ...names], side.player);
    const { budgets = [], levels = [], searches, about = [], game: own } = this.chosen ?? {};
    this.showLevels(levels);
    this.player.title = about.join("\n");
    const pairs = budgets.map((budget, index) => [String(index), budgetText(budget, game, own)]);
    if (levels.length > 0) pairs.unshift([LEVELS, strengthOf(levels[(side.level ?? 0) - 1])]);
    if (searches) pairs.push(...Object.keys(CUSTOM).map((unit) => [unit, CUSTOM[unit]]));
    const unit = side.seconds ? "seconds" : "simulations";
    const known = budgets.findIndex(
      (budget) => (budget.simulations ?? null) === (side.simulations ?? null)
        && (budget.seconds ?? null) === (side.seconds ?? null),
    );
    const isCustom = this.isCustom || known < 0;
    const hasLevel = Boolean(side.level);
    setOptions(this.level, pairs, hasLevel ? LEVELS : isCustom ? unit : String(known));
    this.level.hidden = pairs.length === 0;
    this.number.hidden = this.level.hidden || hasLevel || !isCustom || !searches;
    if (document.activeElement !== this.number) this.number.value = side[unit] ?? "";
  }

  /** Show a button for each level for people. */
  showLevels(levels) {
    this.levels.hidden = levels.length === 0;
    reuseChildren(this.levels, levels.length, () => make("button", { type: "button" }));
    levels.forEach(({ number, name, strength }, index) => {
      const button = this.levels.children[index];
      setText(button, String(number));
      setAttribute(button, "aria-pressed", this.side.level === number);
      setAttribute(button, "aria-label", `Level ${number}, ${name}, ${strength}`);
      setAttribute(button, "title", `${name} · ${strength}`);
      button.onclick = () => this.changed({ player: this.side.player, level: number });
    });
  }

  get chosen() {
    return this.players.find(({ name }) => name === this.side.player);
  }

  choosePlayer() {
    this.isCustom = false;
    const player = this.players.find(({ name }) => name === this.player.value);
    this.changed(player ? defaultSide(player) : { player: PERSON });
  }

  chooseLevel() {
    if (this.level.value === LEVELS) {
      this.changed({ player: this.side.player, level: DEFAULT_LEVEL });
      return;
    }
    this.isCustom = this.level.value in CUSTOM;
    if (this.level.value === "seconds") {
      this.set({ simulations: null, seconds: 1 });
    } else if (this.isCustom) {
      this.set({ simulations: this.side.simulations || DEFAULT_SIMULATIONS, seconds: null });
    } else {
      this.set(this.chosen.budgets[this.level.value]);
    }
  }

  chooseNumber() {
    const number = Number(this.number.value);
    if (!(number > 0)) return;
    if (this.level.value === "seconds") this.set({ simulations: null, seconds: number });
    else this.set({ simulations: Math.round(number), seconds: null });
  }

  set({ simulations, seconds }) {
    this.changed({ player: this.side.player, simulations, seconds });
  }
}

/** Both sides; `changed(sides)` is called when the user changes one. */
export class Sides {
  constructor(root, changed) {
    this.pair = [0, 1].map(
      (index) => new SideControls(index, (side) => changed(this.sides.with(index, side))),
    );
    const swap = make("button", { type: "button", class: "swap", title: "Swap sides" }, "⇅");
    swap.setAttribute("aria-label", "Swap sides");
    press(swap, () => changed([...this.sides].reverse()));
    root.append(make("div", { class: "sides" }, ...this.pair.map((side) => side.root)), swap);
  }

  show(setup, game, sides, names) {
    this.sides = sides;
    const players = playersOf(setup, game);
    this.pair.forEach((side, index) => side.show(players, game, sides[index], names[index]));
  }
}

/**
 * Return the default sides: a person against the first suitable player of the game.
 * @param {import("../../types").Setup} setup
 * @param {string} game
 */
export function defaultSides(setup, game) {
  const players = playersOf(setup, game);
  const player = players.find((one) => isMadeFor(one, game)) ?? players.find((one) => one.searches)
    ?? players[0];
  return [{ player: PERSON }, player ? defaultSide(player) : { player: PERSON }];
}
