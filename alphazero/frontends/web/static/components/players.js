// The players of both sides: a person, or an engine with a level, simulations or seconds per move.

import { make, setOptions, setText, showButtons } from "../lib/dom.js";

const PERSON = "person";

/** Initial number of each strength. */
const USUAL = { simulations: 100, seconds: 1, level: 4 };

/** The controls of one side. */
class SideControls {
  constructor(index, changed) {
    this.changed = changed;
    this.sign = make("span", { class: "sign" });
    const who = `Player ${index + 1}`;
    this.player = make("select", {
      class: "player", "aria-label": who,
      change: ({ target: { value } }) => this.changed({ player: value }),
    });
    this.strength = make("select", {
      class: "strength", "aria-label": `${who}: strength`,
      change: ({ target: { value } }) => this.set(value, USUAL[value]),
    });
    this.number = make("input", {
      type: "number", min: 0, step: "any", "aria-label": `${who}: budget`,
      change: () => this.chooseNumber(),
    });
    this.levels = make("div", { class: "levels", role: "group", "aria-label": `${who}: level` });
    const colour = index === 0 ? "first" : "second";
    const stone = make("span", { class: `stone ${colour}`, "aria-hidden": "true" });
    const parts = [stone, this.sign, this.player, this.levels, this.strength, this.number];
    this.root = make("div", { class: "side-controls" }, ...parts);
  }

  show(players, side, name) {
    this.side = side;
    setText(this.sign, name);
    setOptions(this.player, [[PERSON, "Person"], ...players.map((player) => [player.name, player.name])],
      side.player);
    const { levels = [], searches } = players.find((player) => player.name === side.player) ?? {};
    showButtons(this.levels, levels, (level) => ({
      text: String(level.number),
      action: () => this.set("level", level.number),
      "aria-pressed": side.level === level.number,
      "aria-label": levelText(level),
      title: levelText(level),
    }));
    const level = levels[(side.level ?? 0) - 1];
    const pairs = [["simulations", "simulations a move"], ["seconds", "seconds a move"]];
    if (levels.length > 0) pairs.unshift(["level", level ? levelText(level) : "a level for people"]);
    const kind = ["level", "seconds"].find((unit) => side[unit]) ?? "simulations";
    setOptions(this.strength, pairs, kind);
    this.strength.hidden = !searches;
    this.number.hidden = !searches || kind === "level";
    if (document.activeElement !== this.number) this.showNumber();
  }

  showNumber() {
    this.number.value = this.side[this.strength.value] ?? "";
  }

  /** Choose the typed number; one that is empty or refused gives way to that in use. */
  async chooseNumber() {
    const [kind, { value }] = [this.strength.value, this.number];
    const number = kind === "seconds" ? Number(value) : Math.round(value);
    if (value !== "" && number >= 0) await this.set(kind, number);
    this.showNumber();
  }

  set(kind, number) {
    return this.changed({ player: this.side.player, [kind]: number });
  }
}

/** Describe a level for people. */
function levelText({ number, name, strength }) {
  return `level ${number}: ${name} · ${strength}`;
}

/** Both sides; `changed(sides)` is called when the user changes one. */
export class Sides {
  constructor(root, changed) {
    this.pair = [0, 1].map(
      (index) => new SideControls(index, (side) => changed(this.sides.with(index, side))),
    );
    const swap = make("button", {
      type: "button", class: "swap", title: "Swap sides", "aria-label": "Swap sides",
      click: () => changed([...this.sides].reverse()),
    }, "⇅");
    root.append(make("div", { class: "sides" }, ...this.pair.map((side) => side.root)), swap);
  }

  /** Show the sides of a view, and of `players` those that play its game. */
  show(players, { sides, side_names: names, available }) {
    this.sides = sides;
    const options = players.filter(({ name }) => available.includes(name));
    this.pair.forEach((side, index) => side.show(options, sides[index], names[index]));
  }
}
