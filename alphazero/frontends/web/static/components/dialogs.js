// The dialogs: new game, load or paste, and the choice between several moves on one cell.

import { byId, make, setOptions, title } from "../lib/dom.js";
import { Sides, defaultSides } from "./players.js";

/** Show a dialog; returns the value of the button that closed it, "" if cancelled. */
function ask(dialog) {
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
    setOptions(this.name, setup.games.map(({ name }) => [name, title(name)]));
  }

  /** Returns {game, sides}, or null. */
  async ask(view) {
    setOptions(this.name, this.pairs(view.game), view.game);
    this.showOptions();
    this.showSides(view.sides);
    const answer = await ask(byId("new-dialog"));
    return answer === "start" ? { game: this.game, sides: this.chosen } : null;
  }

  pairs(game) {
    const known = JSON.parse(this.name.dataset.key);
    return known.some(([name]) => name === game) ? known : [...known, [game, title(game)]];
  }

  choose() {
    this.showOptions();
    this.showSides(defaultSides(this.setup, this.game));
  }

  showSides(sides) {
    this.chosen = sides;
    this.sides.show(this.setup, this.game, sides, ["First", "Second"]);
  }

  showOptions() {
    const { options = {} } = this.setup.games.find(({ name }) => name === this.name.value) ?? {};
    const fields = Object.entries(options).map(([name, value]) => {
      const input = make("input", { type: "number", name, value, "data-default": value });
      input.addEventListener("change", () => this.showSides(defaultSides(this.setup, this.game)));
      return make("label", { class: "field" }, make("span", {}, title(name)), input);
    });
    this.options.hidden = fields.length === 0;
    this.options.lastElementChild.replaceChildren(...fields);
  }

  /** The game in the server's syntax: `connect_four:rows=7,columns=8`. */
  get game() {
    const [name, preset] = this.name.value.split(":");
    const options = new Map(preset ? preset.split(",").map((option) => option.split("=")) : []);
    for (const { name: option, value, dataset } of this.options.querySelectorAll("input")) {
      if (value !== "" && value !== dataset.default) options.set(option, value);
    }
    const chosen = [...options].map((option) => option.join("=")).join();
    return chosen ? `${name}:${chosen}` : name;
  }
}

/** "Load or paste"; returns the text, or null. */
export async function askText() {
  const [file, text] = [byId("load-file"), byId("load-text")];
  file.value = text.value = "";
  if ((await ask(byId("load-dialog"))) !== "load") return null;
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
  const answer = await ask(byId("choice"));
  return answer === "" ? null : Number(answer);
}
