// The players of both sides: a person, or an engine with a level or an own budget.

import { make, press, setOptions } from "../lib/dom.js";

const PERSON = "human";
const OWN = { simulations: "own simulations", seconds: "own seconds" };
/** Initial number for "own simulations". */
const USUAL = 100;

/** Return the players that can play a game. */
export function playersOf(setup, game) {
  return setup.players.filter((player) => player.game === null || player.game === game);
}

/** Return a side with a player at its default level. */
export function usualSeat(player) {
  const { simulations, seconds } = player.levels[player.usual] ?? {};
  return { player: player.name, simulations: simulations ?? null, seconds: seconds ?? null };
}

/** Format a level, with its rating if measured: "64 simulations · Elo 812 (790–834)". */
export function levelText({ label, elo, elo_low, elo_high, by_game }, game) {
  // Players of any game have ratings by game.
  const rating = by_game?.[game] ?? { elo, low: elo_low, high: elo_high };
  if (typeof rating.elo !== "number") return label;
  const [most, low, high] = [rating.elo, rating.low, rating.high].map(Math.round);
  return `${label} · Elo ${most}${typeof rating.low === "number" ? ` (${low}–${high})` : ""}`;
}

/** The controls of one side. */
class Seat {
  constructor(index, changed) {
    this.changed = changed;
    this.sign = make("span", { class: "sign" });
    const who = `Player ${index + 1}`;
    this.player = make("select", {
      class: "player", "aria-label": who, change: () => this.choosePlayer(),
    });
    this.level = make("select", {
      class: "level", "aria-label": `${who}: level`, change: () => this.chooseLevel(),
    });
    this.number = make("input", {
      type: "number", min: 0, step: "any", "aria-label": `${who}: how many`,
      change: () => this.chooseNumber(),
    });
    const side = index === 0 ? "first" : "second";
    const stone = make("span", { class: `stone ${side}`, "aria-hidden": "true" });
    const parts = [stone, this.sign, this.player, this.level, this.number];
    this.root = make("div", { class: "seat" }, ...parts);
  }

  show(players, game, seat, sign) {
    this.players = players;
    this.seat = seat;
    this.sign.textContent = sign;
    const names = players.map(({ name }) => [name, name]);
    setOptions(this.player, [[PERSON, "Person"], ...names], seat.player);
    const { levels = [], searches, about = [] } = this.chosen ?? {};
    this.player.title = about.join("\n");
    const pairs = levels.map((level, index) => [String(index), levelText(level, game)]);
    if (searches) pairs.push(...Object.keys(OWN).map((unit) => [unit, OWN[unit]]));
    const unit = seat.seconds ? "seconds" : "simulations";
    const known = levels.findIndex(
      (level) => (level.simulations ?? null) === (seat.simulations ?? null)
        && (level.seconds ?? null) === (seat.seconds ?? null),
    );
    const own = this.own || known < 0;
    setOptions(this.level, pairs, own ? unit : String(known));
    this.level.hidden = pairs.length === 0;
    this.number.hidden = this.level.hidden || !own || !searches;
    if (document.activeElement !== this.number) this.number.value = seat[unit] ?? "";
  }

  get chosen() {
    return this.players.find(({ name }) => name === this.seat.player);
  }

  choosePlayer() {
    this.own = false;
    const player = this.players.find(({ name }) => name === this.player.value);
    this.changed(player ? usualSeat(player) : { player: PERSON });
  }

  chooseLevel() {
    this.own = this.level.value in OWN;
    if (this.level.value === "seconds") this.set({ simulations: null, seconds: 1 });
    else if (this.own) this.set({ simulations: this.seat.simulations || USUAL, seconds: null });
    else this.set(this.chosen.levels[this.level.value]);
  }

  chooseNumber() {
    const number = Number(this.number.value);
    if (!(number > 0)) return;
    if (this.level.value === "seconds") this.set({ simulations: null, seconds: number });
    else this.set({ simulations: Math.round(number), seconds: null });
  }

  set({ simulations, seconds }) {
    this.changed({ player: this.seat.player, simulations, seconds });
  }
}

/** Both sides; `changed(seats)` is called with the new ones. */
export class Seats {
  constructor(root, changed) {
    this.pair = [0, 1].map(
      (index) => new Seat(index, (seat) => changed(this.seats.with(index, seat))),
    );
    const swap = make("button", { type: "button", class: "swap", title: "Change sides" }, "⇅");
    swap.setAttribute("aria-label", "Change sides");
    press(swap, () => changed([...this.seats].reverse()));
    root.append(make("div", { class: "seats" }, ...this.pair.map((seat) => seat.root)), swap);
  }

  show(setup, game, seats, signs) {
    this.seats = seats;
    const players = playersOf(setup, game);
    this.pair.forEach((seat, index) => seat.show(players, game, seats[index], signs[index]));
  }
}

/** Return the default sides: a person against the first suitable player of the game. */
export function usualSeats(setup, game) {
  const players = playersOf(setup, game);
  const player = players.find((one) => one.game === game) ?? players.find((one) => one.searches)
    ?? players[0];
  return [{ player: PERSON }, player ? usualSeat(player) : { player: PERSON }];
}
