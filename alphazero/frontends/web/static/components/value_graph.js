// The values of the game as a curve, with a slider over it to step through the game.

import { chance, make, makeCircle, makeSvg, setAttribute } from "../lib/dom.js";

const HEIGHT = 104;
const EDGE = 10;
/** Width of the labels on the right. */
const LABELS = 72;
/** Shorter games do not fill the width, so that the curve grows instead of being squeezed. */
const MIN_LENGTH = 12;

export class Graph {
  /** User input calls `goTo(ply)`. */
  constructor(root, goTo) {
    this.root = root;
    this.svg = makeSvg("svg", { height: HEIGHT, "aria-hidden": "true" });
    this.slider = make("input", {
      type: "range", min: 0, "aria-label": "Position in the game",
      input: () => goTo(Math.min(this.slider.value, this.view.moves.length)),
    });
    root.append(this.svg, this.slider);
    new ResizeObserver(() => this.view && this.draw()).observe(root);
  }

  /** The slider stays at `target`, where the user is going, and does not jump back with each view. */
  show(view, target) {
    this.view = view;
    const { ply, moves, side_names: names } = view;
    const move = moves[ply - 1];
    const value = this.values()[ply];
    const parts = [move ? `move ${ply}, ${names[move.player]} ${move.name}` : "the start"];
    if (value !== null) parts.push(`${names[0]} wins ${chance(value)}`);
    setAttribute(this.slider, "aria-valuetext", parts.join(", "));
    this.slider.max = this.length;
    this.slider.value = target;
    this.draw();
  }

  /** Return the value for player 0 after each move, from the start; null if unknown. */
  values() {
    return [this.view.start_value ?? null, ...this.view.moves.map(({ value }) => value)];
  }

  draw() {
    const { ply, moves, side_names: names } = this.view;
    const width = this.root.clientWidth;
    if (width === 0) return;
    const across = (index) => EDGE + (index / this.length) * (width - 2 * EDGE - LABELS);
    const down = (value) => HEIGHT / 2 - value * (HEIGHT / 2 - EDGE);
    const points = this.values()
      .map((value, index) => [across(index), value === null ? null : down(value)])
      .filter(([, y]) => y !== null);
    const curve = points.map(([x, y]) => `${x} ${y}`).join(" L ");
    const end = across(moves.length);
    const line = (kind, x1, x2, y1, y2) => makeSvg("line", { class: kind, x1, x2, y1, y2 });
    const label = (y, text) => makeSvg("text", { class: "axis-label", x: width - 6, y }, text);
    const shapes = [
      line("middle", 0, width, HEIGHT / 2, HEIGHT / 2),
      line("played", EDGE, end, HEIGHT / 2, HEIGHT / 2),
      label(16, `${names[0]} wins`),
      label(HEIGHT - 8, `${names[1]} wins`),
    ];
    if (points.length > 1) {
      const [[left], [right]] = [points[0], points.at(-1)];
      const area = `M ${left} ${HEIGHT / 2} L ${curve} L ${right} ${HEIGHT / 2} Z`;
      shapes.push(makeSvg("path", { class: "area", d: area }));
      shapes.push(makeSvg("path", { class: "curve", d: `M ${curve}` }));
    }
    const x = across(ply);
    shapes.push(line("cursor", x, x, 4, HEIGHT - 4));
    for (const [left, y] of points) {
      shapes.push(makeCircle(left === x ? "here" : "point", { x: left, y }, 3.5));
    }
    for (const { ply: at, value, review } of moves) {
      if (!review?.sign || value === null) continue;
      shapes.push(makeCircle(`judged ${review.judgement}`, { x: across(at), y: down(value) }, 5));
    }
    this.svg.setAttribute("width", width);
    this.svg.replaceChildren(...shapes);
  }

  get length() {
    return Math.max(this.view.moves.length, MIN_LENGTH);
  }
}
