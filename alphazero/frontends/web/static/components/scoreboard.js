// Who plays, whose turn it is, points, and the win chance as a bar.

import { byId, chance, make, setAttribute, setText } from "../lib/dom.js";

/** The edges that each side joins on hexagons. */
const EDGES = ["top to bottom", "left to right"];

/** A side: its stone, its name, who plays it, its points. */
class Side {
  constructor(root, index) {
    this.root = root;
    this.index = index;
    this.name = make("span");
    this.note = make("small", { dir: "auto" }); // a name of a file does not turn what is beside it
    this.points = make("span", { class: "points" });
    const stone = make("span", { class: `stone ${index ? "second" : "first"}`, "aria-hidden": true });
    root.append(stone, make("span", { class: "who" }, this.name, this.note), this.points);
  }

  show(view) {
    const { side_names: names, sides, points, players } = view;
    const { index, root } = this;
    const edges = view.board_style === "hexagons" ? EDGES[index] : "";
    const player = sides[index].player;
    const alone = sides.filter((side) => side.player === "person").length === 1;
    const person = players?.[index] ?? (alone ? "you" : "");
    const who = player === "person" ? person : player.replaceAll("_", " ");
    setText(this.name, names[index]);
    setText(this.note, edges || who);
    setAttribute(root, "title", [names[index], who, edges].filter(Boolean).join(", "));
    setText(this.points, points ? String(points[index]) : "");
    const isTurn = !view.over && view.to_play === index;
    root.classList.toggle("turn", isTurn);
    root.classList.toggle("thinking", isTurn && (view.thinking || view.analyzing));
  }
}

export class Scoreboard {
  constructor() {
    this.sides = [".side.first", ".side.second"].map(
      (place, index) => new Side(document.querySelector(`#scoreboard ${place}`), index),
    );
    this.bar = byId("win-bar");
    this.share = make("div", { class: "share" });
    this.percent = make("span", { class: "percent" });
    this.bar.append(this.share, this.percent);
  }

  show(view) {
    this.sides.forEach((side) => side.show(view));
    setText(byId("status-text"), view.status);
    setText(byId("source"), view.source ?? "");
    setText(byId("ply"), `${view.ply} / ${view.moves.length}`);
  }

  /** Show the first side's win chance of a view, or of its running search. */
  showChance(view) {
    const { search, side_names: names, to_play: player } = view;
    setText(byId("wait"), stateOf(view));
    const value = search && !view.over ? (player === 0 ? 1 : -1) * search.value : view.value;
    const leader = (value ?? 0) >= 0 ? 0 : 1;
    this.bar.classList.toggle("unknown", value === null);
    this.bar.classList.toggle("turned", view.turned);
    this.share.style.height = `${50 + 50 * (value ?? -1)}%`;
    const text = value === null ? "" : chance(Math.abs(value));
    setText(this.percent, text.replace(/[< %]/g, ""));
    setAttribute(this.percent, "class", `percent ${leader === 0 ? "below" : "above"}`);
    const words = `Win chance: ${value === null ? "not known here" : `${names[leader]} ${text}`}`;
    setAttribute(this.bar, "aria-label", words);
    setAttribute(this.bar, "title", value === null ? words : `${words}; a draw counts half`);
  }
}

/** Describe a proven result, what the page waits for, or that an earlier position is shown. */
function stateOf({ sides, to_play: player, over, paused, thinking, ply, moves, search }) {
  if (ply < moves.length) return "looking back";
  if (over) return "";
  if (search?.proof) return search.proof;
  if (sides[player].player === "person") return "";
  if (paused) return "paused";
  return thinking ? "thinking" : "";
}
