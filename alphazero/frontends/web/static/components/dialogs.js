// The dialogs: new game, load or paste, and the choice between several moves on one cell.

import { HALF_POINTS, byId, make, optionTitle, setOptions } from "../lib/dom.js";
import { Sides, defaultSides } from "./players.js";

/** Show a dialog; returns the value of the button that closed it, "" if cancelled. */
export function showDialog(dialog) {
  dialog.returnValue = "";
  dialog.querySelector(".cancel").onclick = () => dialog.close("");
  dialog.showModal();
  return new Promise((answer) => {
    dialog.addEventListener("close", () => answer(dialog.returnValue), { once: true });
  });
}

/** "New game": the game, its options and the players. */
export class NewGame {
  constructor(setup) {
    this.setup = setup;
    this.name = byId("new-name");
    this.options = byId("new-options");
    this.sides = new Sides(byId("new-sides"), (sides) => this.showSides(sides));
    this.name.addEventListener("change", () => this.choose());
    setOptions(this.name, setup.games.map(({ name, title }) => [name, title]));
  }

  /**
   * Returns {game, sides}, or null.
   * @param {import("../../types").View} view
   */
  async ask(view) {
    setOptions(this.name, this.pairs(view), view.game);
    this.showOptions();
    this.showSides(view.sides);
    const answer = await showDialog(byId("new-dialog"));
    return answer === "start" ? { game: this.game, sides: this.chosen } : null;
  }

  pairs({ game, title }) {
    const known = JSON.parse(this.name.dataset.key);
    return known.some(([name]) => name === game) ? known : [...known, [game, title]];
  }

  choose() {
    this.showOptions();
    this.showSides(defaultSides(this.setup, this.game));
  }

  showSides(sides) {
    this.chosen = sides;
    const known = this.setup.games.find(({ name }) => name === this.name.value);
    this.sides.show(this.setup, this.game, sides, known?.side_names ?? ["First", "Second"]);
  }

  showOptions() {
    const { options = {} } = this.setup.games.find(({ name }) => name === this.name.value) ?? {};
    const fields = Object.entries(options).map(([name, value]) => {
      const unit = name.endsWith(HALF_POINTS) ? 2 : 1;
      const input = make("input", {
        type: "number", name, value: value / unit, step: 1 / unit, "data-default": value / unit,
      });
      input.addEventListener("change", () => this.showSides(defaultSides(this.setup, this.game)));
      return make("label", { class: "field" }, make("span", {}, optionTitle(name)), input);
    });
    this.options.hidden = fields.length === 0;
    this.options.lastElementChild.replaceChildren(...fields);
  }

  /** The game in the server's syntax: `connect_four:rows=7,columns=8`. */
  get game() {
    const [name, preset] = this.name.value.split(":");
    const options = new Map(preset ? preset.split(",").map((option) => option.split("=")) : []);
    for (const { name: option, value, dataset } of this.options.querySelectorAll("input")) {
      const unit = option.endsWith(HALF_POINTS) ? 2 : 1;
      if (value !== "" && value !== dataset.default) options.set(option, Math.round(unit * value));
    }
    const chosen = [...options].map((option) => option.join("=")).join();
    return chosen ? `${name}:${chosen}` : name;
  }
}

/** "Load or paste"; returns the text, or null. */
export async function askText() {
  const [file, text] = [byId("load-file"), byId("load-text")];
  file.value = text.value = "";
  if ((await showDialog(byId("load-dialog"))) !== "load") return null;
  const chosen = file.files[0];
  return (chosen ? await chosen.text() : text.value).trim() || null;
}

/** Whether a text is a game, not moves: SGF starts with "(", JSON with "{". */
export function isWholeGame(text) {
  return /^[({]/.test(text);
}

/** Ask for one of the moves on a cell; returns its action, or null. */
export async function chooseAction(actions) {
  if (actions.length === 1) return actions[0].action;
  const buttons = actions.map(({ action, name }) =>
    make("button", { type: "submit", value: action, class: "strong" }, name));
  byId("choice-moves").replaceChildren(...buttons);
  const answer = await showDialog(byId("choice"));
  return answer === "" ? null : Number(answer);
}
