// The dialogs: new game, load or paste, share or save, and the choice between moves on one cell.

import { makePiece, shapeOf } from "../board/pieces.js";
import { byId, make, makeSvg, setOptions, setText } from "../lib/dom.js";

/** The end of the names of options in half points; people see points. */
const HALF_POINTS = "_half_points";

/** Maximum bytes of a loaded file: `MAX_TEXT` of commands.py. */
const MAX_FILE = 512 * 1024;

/** Maximum characters of the moves in a link. */
const MAX_LINK = 8000;

/** Show a dialog whose `run()` returns an error, or ""; it stays open, with its input, on an error. */
function showForm(dialog, run) {
  const fault = dialog.querySelector(".fault");
  setText(fault, "");
  showDialog(dialog);
  dialog.querySelector("form").onsubmit = async (event) => {
    event.preventDefault();
    setText(fault, await run());
    if (fault.textContent === "") dialog.close();
  };
}

/** Show a dialog; returns the value of the button that closed it, "" if cancelled. */
function showDialog(dialog) {
  dialog.returnValue = "";
  dialog.querySelector(".cancel").onclick = () => dialog.close("");
  dialog.showModal();
  return new Promise((answer) => {
    dialog.addEventListener("close", () => answer(dialog.returnValue), { once: true });
  });
}

/** Return the name of `connect_four:rows=7,columns=8` and its options, a map of texts by name. */
function parseGame(text) {
  const [name, options] = text.split(":");
  return [name, new Map(options?.split(",").map((option) => option.split("=")))];
}

/** "New game": the game and its options. */
export class NewGame {
  constructor(setup) {
    this.setup = setup;
    this.name = byId("new-name");
    this.options = byId("new-options");
    this.name.addEventListener("change", () => this.showOptions());
  }

  /** `start(game)` starts a game; it returns an error, or "". */
  ask({ game, title }, start) {
    const games = this.setup.games.map((option) => [option.name, option.title]);
    const same = games.find(([name]) => name === game) ?? games.find(([, other]) => other === title);
    if (!same) games.push([game, title]);
    setOptions(this.name, games, same ? same[0] : game);
    this.showOptions();
    showForm(byId("new-dialog"), () => start(this.game));
  }

  showOptions() {
    const [base, given] = parseGame(this.name.value);
    const find = (wanted) => this.setup.games.find(({ name }) => name === wanted);
    const { options = [] } = find(this.name.value) ?? find(base) ?? {};
    const fields = options.map(({ name, value: usual, words }) => {
      const value = given.get(name) ?? usual;
      const unit = name.endsWith(HALF_POINTS) ? 2 : 1;
      const attributes = { name, "data-default": value / unit };
      const input = words ? make("select", attributes)
        : make("input", { ...attributes, type: "number", value: value / unit, step: 1 / unit });
      if (words) setOptions(input, words.map((word, index) => [index, word]), String(value));
      const title = name.replace(HALF_POINTS, "").replaceAll("_", " ");
      return make("label", { class: "field" }, make("span", {}, title), input);
    });
    this.options.hidden = fields.length === 0;
    this.options.lastElementChild.replaceChildren(...fields);
  }

  /** The game in the server's syntax: `connect_four:rows=7,columns=8`. */
  get game() {
    const [name, options] = parseGame(this.name.value);
    for (const { name: option, value, dataset } of this.options.querySelectorAll("[name]")) {
      const unit = option.endsWith(HALF_POINTS) ? 2 : 1;
      if (value !== "" && value !== dataset.default) options.set(option, Math.round(unit * value));
    }
    const text = [...options].map((option) => option.join("=")).join();
    return text ? `${name}:${text}` : name;
  }
}

/** "Load or paste"; `load(text, data)` returns an error, or "". A file has `data`, a letter per byte. */
export function askText(load) {
  const [file, text] = [byId("load-file"), byId("load-text")];
  file.value = text.value = "";
  showForm(byId("load-dialog"), async () => {
    if (!file.files[0]) return load(text.value.trim());
    if (file.files[0].size > MAX_FILE) return "The file is too large: the page loads up to 512 KB.";
    const bytes = new Uint8Array(await file.files[0].arrayBuffer());
    const data = Array.from(bytes, (byte) => String.fromCharCode(byte)).join("");
    const read = new TextDecoder().decode(bytes).trim();
    return read ? load(read, data) : "The file is empty.";
  });
}

/** Ask for one of the moves on a cell, or for the piece that it makes; returns its action, or null. */
export async function chooseAction(actions, view) {
  if (actions.length === 1) return actions[0].action;
  const buttons = [...actions].sort((one, other) => other.kind - one.kind).map((move) => {
    const attributes = { type: "submit", value: move.action };
    if (!move.kind) return make("button", { ...attributes, class: "strong" }, move.name);
    const name = shapeOf(view, move.kind).name;
    const size = 2.6 * view.board.radius;
    const picture = { viewBox: [-size / 2, -size / 2, size, size].join(" "), "aria-hidden": "true" };
    const piece = makePiece(view, view.to_play + 1, move.kind);
    const label = { "aria-label": `${name}, ${move.name}`, class: "choice-piece", title: move.name };
    return make("button", { ...attributes, ...label }, makeSvg("svg", picture, piece));
  });
  setText(byId("choice-title"), actions[0].kind ? "Which piece?" : "Which move?");
  byId("choice-moves").replaceChildren(...buttons);
  const answer = await showDialog(byId("choice"));
  return answer === "" ? null : Number(answer);
}

/** Return {game, moves} of a link's untrusted part after "#"; or null. */
export function readLink(hash) {
  if (hash.length > MAX_LINK) return null;
  const query = new URLSearchParams(hash.replace(/^#/, ""));
  const [game, moves] = [query.get("game"), query.get("moves") ?? ""];
  const start = query.get("start") ?? "";
  return game && /^[\w:=,.-]{1,200}$/.test(game) ? { game, moves, start } : null;
}

/** "Share or save": a link to the position, and links to files of the game. */
export function share({ id, game, start, moves, ply, record_format: format }) {
  const names = moves.slice(0, ply).map(({ name }) => name).join(" ");
  const query = new URLSearchParams({ game, ...(start && { start }), moves: names });
  const record = byId("save-record"); // for other programs: SGF or PGN
  record.hidden = !format;
  record.textContent = `Save ${format?.toUpperCase()}`;
  for (const [link, kind] of [[record, format], [byId("save-json"), "json"]]) {
    link.href = `/api/sessions/${id}/save?format=${kind}`;
  }
  showDialog(byId("share-dialog"));
  byId("share-link").value = `${location.origin}${location.pathname}#${query}`;
  byId("share-link").select();
}
