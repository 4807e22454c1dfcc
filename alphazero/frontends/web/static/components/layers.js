// The layer over the board: the results of a search, or the owners of the board.

import { setText } from "../lib/dom.js";

/** Return how the game will end, {margin, ownership}: by the rules, else by the search; or null. */
export const endOf = (view) => view.end ?? view.search?.end ?? null;

export class Layers {
  /** `changed(layer)` is called when the user chooses another layer. */
  constructor(select, note, changed) {
    this.select = select;
    this.note = note;
    /** The user's choice; without one, the usual layer is shown. */
    this.choice = null;
    select.addEventListener("change", () => {
      this.choice = select.value;
      changed(select.value);
    });
  }

  /** Return the layer of a view. */
  of(view) {
    const ofSearch = view.analyzing ? "visits" : "off";
    const usual = view.over && view.has_territory ? "territory" : ofSearch;
    const layer = this.choice ?? usual;
    return layer === "territory" && !view.has_territory ? usual : layer;
  }

  show(view) {
    this.select.querySelector("[value=territory]").hidden = !view.has_territory;
    this.select.value = this.of(view);
    this.note.hidden = this.select.value !== "territory";
    setText(this.note, territoryNote(view));
  }
}

function territoryNote(view) {
  const end = endOf(view);
  const margin = end?.margin ? ` ${end.margin}.` : "";
  if (view.end) return `Who owns each point by the rules.${margin}`;
  if (!view.search && view.thinking) return "Searching.";
  if (!end?.ownership) return "Only a network with an ownership head can tell.";
  return `Who will own each point, as the network expects; the darker, the surer.${margin}`;
}
