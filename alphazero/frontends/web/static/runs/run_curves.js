// A run's curves, one chart at a time.

import { make, makeSvg, setAttribute, setOptions } from "../lib/dom.js";

const HEIGHT = 150;
const TOP = 8;
const BOTTOM = 18;
const RIGHT = 8;
/** Curves of one chart with colours of their own; later ones are dashed. */
const COLOURS = 4;

export class RunCurves {
  constructor(root) {
    this.root = root;
    this.charts = [];
    this.chart = make("select", { "aria-label": "Chart", change: () => this.draw() });
    this.svg = makeSvg("svg", { height: HEIGHT, role: "img" });
    this.legend = make("ul", { class: "legend" });
    root.append(this.chart, this.svg, this.legend);
    new ResizeObserver(() => this.draw()).observe(root);
  }

  /** Show the charts of a run, and the one chosen before if it is among them. */
  show(charts) {
    this.charts = charts;
    this.root.hidden = charts.length === 0;
    const titles = charts.map(({ title }) => title);
    const kept = titles.includes(this.chart.value) ? this.chart.value : titles[0];
    setOptions(this.chart, titles.map((title) => [title, title]), kept);
    this.draw();
  }

  draw() {
    const chart = this.charts.find(({ title }) => title === this.chart.value);
    const width = this.root.clientWidth;
    if (!chart || width === 0) return;
    const { low, high, last } = bounds(chart);
    const ticks = [low, (low + high) / 2, high].map(rounded);
    const left = 10 + 6.5 * Math.max(...ticks.map((text) => text.length));
    const across = (iteration) => left + (iteration / last) * (width - left - RIGHT);
    const down = (value) => HEIGHT - BOTTOM
      - ((value - low) / (high - low)) * (HEIGHT - BOTTOM - TOP);
    const shapes = [];
    ticks.forEach((text, index) => {
      const y = down(low + (index / 2) * (high - low));
      shapes.push(makeSvg("line", { class: "middle", x1: left, x2: width - RIGHT, y1: y, y2: y }));
      shapes.push(makeSvg("text", { class: "axis-label", x: left - 5, y: y + 4 }, text));
    });
    const axis = { class: "axis-label", x: width - RIGHT, y: HEIGHT - 4 };
    shapes.push(makeSvg("text", axis, `iteration ${last}`));
    for (const [iteration, from, to] of chart.intervals) {
      const x = across(iteration);
      shapes.push(makeSvg("line", { class: "interval", x1: x, x2: x, y1: down(from), y2: down(to) }));
    }
    chart.curves.forEach(({ points }, index) => {
      const path = points.map(([iteration, value]) => `${across(iteration)} ${down(value)}`);
      shapes.push(makeSvg("path", { class: kind(index), d: `M ${path.join(" L ")}` }));
      const [x, y] = path.at(-1).split(" ");
      shapes.push(makeSvg("circle", { class: kind(index), cx: x, cy: y, r: 2.5 }));
    });
    this.svg.setAttribute("width", width);
    this.svg.replaceChildren(...shapes);
    const words = chart.curves.map(({ label, points }) => `${label} ${rounded(points.at(-1)[1])}`);
    const unit = chart.unit && `, ${chart.unit}`;
    setAttribute(this.svg, "aria-label", `${chart.title}${unit}; now ${words.join(", ")}`);
    this.legend.replaceChildren(...words.map((text, index) => {
      const line = makeSvg("path", { class: kind(index), d: "M 0 5 L 18 5" });
      const key = makeSvg("svg", { width: 18, height: 10, "aria-hidden": "true" }, line);
      return make("li", {}, key, ` ${text}`);
    }), make("li", {}, chart.unit));
  }
}

const kind = (index) => `series series-${index % COLOURS}${index < COLOURS ? "" : " dashed"}`;

/** Return the range of a chart's values, from 0 if none is negative, and its last iteration. */
function bounds({ unit, curves, intervals }) {
  const points = curves.flatMap((curve) => curve.points);
  const values = [...points.map(([, value]) => value), ...intervals.flatMap((each) => each.slice(1))];
  let low = Math.min(0, ...values);
  let high = unit === "share" ? 1 : Math.max(...values);
  if (low === high) [low, high] = [low - 1, high + 1];
  return { low, high, last: Math.max(1, ...points.map(([iteration]) => iteration)) };
}

/** Format a number with three significant digits, or with all of its whole part. */
function rounded(value) {
  if (Math.abs(value) >= 100) return Math.round(value).toLocaleString("en");
  return String(Number(value.toPrecision(3)));
}
