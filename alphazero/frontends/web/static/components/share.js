// "Share or save": links with the moves, files and pictures; games that are dropped on the page.

import { readFile } from "../lib/api.js";
import { byId, make, press } from "../lib/dom.js";
import { showDialog } from "./dialogs.js";

/** Maximum characters of the moves in a link. */
const MAX_LINK = 8000;
const FORMATS = ["sgf", "json", "png", "svg"];

/**
 * Return the link to the position of a view.
 * @param {import("../../types").View} view
 */
export function linkTo({ game, moves, ply }) {
  const names = moves.slice(0, ply).map(({ name }) => name).join(" ");
  return `${location.origin}${location.pathname}#${new URLSearchParams({ game, moves: names })}`;
}

/** Return {game, moves} of a link's part after "#", which anybody may have written; or null. */
export function readLink(hash) {
  if (hash.length > MAX_LINK) return null;
  const given = new URLSearchParams(hash.replace(/^#/, ""));
  const [game, moves] = [given.get("game"), given.get("moves") ?? ""];
  return game && /^[\w:=,.-]{1,200}$/.test(game) ? { game, moves } : null;
}

export class Share {
  /** `say` shows a message, `load` takes the text of a dropped file. */
  constructor({ say, load }) {
    this.say = say;
    for (const format of FORMATS) press(byId(`save-${format}`), () => this.save(format));
    press(byId("copy-link"), () => this.copy("share-link", byId("copy-link")));
    press(byId("copy-moves"), () => this.copy("share-moves", byId("copy-moves")));
    document.addEventListener("dragover", (event) => event.preventDefault());
    document.addEventListener("drop", async (event) => {
      event.preventDefault();
      const { files } = event.dataTransfer;
      if (files.length > 0) load(await files[0].text());
    });
  }

  ask(view) {
    this.id = view.id;
    byId("share-link").value = linkTo(view);
    byId("share-moves").value = view.moves.slice(0, view.ply).map(({ name }) => name).join(" ");
    byId("save-sgf").hidden = !view.sgf;
    for (const [id, text] of [["copy-link", "Copy link"], ["copy-moves", "Copy moves"]]) {
      byId(id).textContent = text;
    }
    return showDialog(byId("share-dialog"));
  }

  /** Copy a field; browsers allow it only on this machine or by https, so else it is selected. */
  async copy(field, button) {
    byId(field).select();
    try {
      await navigator.clipboard.writeText(byId(field).value);
      button.textContent = "Copied";
    } catch {
      button.textContent = "Press Ctrl-C";
    }
  }

  /** Download the game or its picture with a click on a temporary link. */
  async save(format) {
    try {
      const { name, content } = await readFile(this.id, format);
      const link = make("a", { href: URL.createObjectURL(content), download: name });
      link.click();
      URL.revokeObjectURL(link.href);
      this.say("");
    } catch (error) {
      this.say(error.message);
    }
  }
}
