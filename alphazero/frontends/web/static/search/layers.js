// The layers over the board: what a search found, or who owns the board.

import { setText } from "../lib/dom.js";
import { endOf } from "./search_result.js";

const NOTES = {
  prior: "The network's first idea: how likely it thinks each move is, in per cent, without search.",
  visits: "How often the search has tried each move, in per cent.",
  value: "The win chance after each move, in per cent, for the side to move.",
  territory: "Who will own each point in the end, as the network expects; the darker, the surer.",
};
const BY_RULES = "Who owns each point by the rules, as the game ended.";
const RIGHT_NOW = "Who would own each point by the rules if the game ended now, with all stones alive.";

export class Layers {
  /** `changed()` is called when the user chooses another layer. */
  constructor(root, note, changed) {
    this.root = root;
    this.note = note;
    /** The user's choice; until then an analysis, a record and the end of Go show their own. */
    this.chosen = null;
    root.addEventListener("change", (event) => {
      this.chosen = event.target.value;
      changed();
    });
  }

  /**
   * Return the layer of a view.
   * @param {import("../../types").View} view
   */
  of(view) {
    const searched = view.analyzing || view.recorded ? "visits" : "off";
    const usual = view.over && view.now ? "territory" : searched;
    const layer = this.chosen ?? usual;
    return layer === "territory" && !view.has_territory ? usual : layer;
  }

  /**
   * Return the end whose territory is shown: as known or expected, else as it is now.
   * @param {import("../../types").View} view
   */
  end(view) {
    const end = endOf(view);
    return end?.ownership ? end : view.now;
  }

  show(view) {
    const layer = this.of(view);
    this.root.querySelector("#territory").hidden = !view.has_territory;
    for (const radio of this.root.elements) radio.checked = radio.value === layer;
    setText(this.note, layer === "territory" ? this.territoryNote(view) : (NOTES[layer] ?? ""));
    this.note.hidden = layer === "off";
  }

  territoryNote(view) {
    const end = this.end(view);
    const margin = end?.margin ? ` ${end.margin}.` : "";
    if (view.over) return BY_RULES + margin;
    if (end === view.now) return end ? RIGHT_NOW + margin : "Nobody knows it yet: ask for a hint.";
    return NOTES.territory + margin;
  }
}
