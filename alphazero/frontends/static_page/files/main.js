// The page: one game of a person against the player, whose search runs in a worker.

import { Board } from "./board/board.js";
import {
  byId, count, countSimulations, followTheme, make, percent, press, setEnabled, setText,
} from "./lib/dom.js";
import { ONGOING, makeGame, valueOf } from "./rules.js";

/** Simulations a move; 0 is the network alone. */
const LEVELS = [0, 25, 100, 400, 1600];
const DEFAULT_LEVEL = 100;

/** Least simulations of a hint. */
const HINT = 400;

/** Counts the views. */
let serial = 0;

class Table {
  constructor(player) {
    this.player = player;
    this.game = makeGame(player.game);
    // The second click of a double click would be one in the next position.
    this.board = new Board(byId("board"), ([{ action }], { detail }) => detail < 2 && this.play(action));
    this.request = 0;
    this.ready = false;
    this.worker = new Worker(new URL("worker.js", import.meta.url), { type: "module" });
    this.worker.onmessage = ({ data }) => this.onMessage(data);
    this.worker.onerror = ({ message }) => this.onMessage({ fault: message ?? "no worker" });
    this.worker.postMessage({ load: player });
    this.begin();
  }

  get state() {
    return this.states.at(-1);
  }

  get over() {
    return this.state.outcome !== ONGOING;
  }

  get ownTurn() {
    return !this.over && this.state.ply % 2 === this.side;
  }

  begin() {
    this.side = Number(byId("side").value);
    this.moves = [];
    this.states = [this.game.initialState()];
    this.showChance(null);
    this.goOn();
  }

  /** Show the position; ask the player for its move if it is its turn. */
  goOn() {
    this.request += 1;
    this.hint = null;
    this.searching = !this.ownTurn && !this.over;
    if (this.over) this.showChance(valueOf(this.state.outcome, this.side));
    if (this.searching) this.ask(Number(byId("level").value), "reply");
    else this.worker.postMessage({ id: this.request }); // ends a search that runs
    this.show();
  }

  ask(simulations, kind) {
    this.worker.postMessage({ id: this.request, moves: this.moves, simulations, kind });
  }

  play(action) {
    const move = `${this.ownTurn ? "you play" : "it plays"} ${nameOf(this.player, this.game, this.state, action)}`;
    this.moves = [...this.moves, action];
    this.states.push(this.game.play(this.state, action));
    this.goOn();
    setText(byId("spoken"), `Move ${this.state.ply}: ${move}. ${this.words()}`);
  }

  undo() {
    do {
      this.states.pop();
      this.moves = this.moves.slice(0, -1);
    } while (!this.ownTurn);
    this.showChance(null);
    this.goOn();
  }

  askHint() {
    this.request += 1;
    this.searching = true;
    this.ask(Math.max(HINT, Number(byId("level").value)), "hint");
    this.show();
  }

  onMessage({ ready, fault, id, done, simulations, perSecond, value, candidates }) {
    if (fault !== undefined) {
      setText(byId("message"), `The player does not run: ${fault}`);
      this.searching = false;
    } else if (ready) {
      this.ready = true;
    } else if (id === this.request) {
      this.searching = !done;
      const speed = simulations > 0 ? `, ${count(perSecond)} a second` : "";
      const shown = this.ownTurn ? "; the numbers are shares in %" : "";
      const searched = `${countSimulations(simulations)}${speed}${shown}`;
      this.showChance(this.ownTurn ? value : -value, searched);
      const placed = (one) => ({ ...one, cell: this.game.cellOf(this.state, one.action) });
      if (this.ownTurn) this.hint = { candidates: candidates.map(placed) };
      else if (done) {
        this.play(candidates[0].action);
      }
    }
    this.show();
  }

  /** Show the person's win chance for a value in [-1, 1], draws counted half; null is unknown. */
  showChance(value, searched = "") {
    const share = value === null ? 0.5 : (1 + value) / 2;
    setText(byId("chance"), value === null ? "–" : percent(share));
    byId("chance-bar").style.width = `${100 * share}%`;
    setText(byId("caption"), searched || "Draws count half.");
  }

  show() {
    const view = viewOf(this.player, this.game, this.state, this.ownTurn);
    this.board.show({ ...view, search: this.hint }, this.hint ? "visits" : "off", null);
    const status = byId("status");
    const mover = this.over ? "" : ["first", "second"][this.state.ply % 2];
    status.className = this.searching ? `${mover} thinking` : mover;
    setText(byId("status-text"), this.words());
    const undoable = this.moves.length > (this.side === 1 ? 1 : 0);
    setEnabled(byId("undo"), undoable);
    setEnabled(byId("hint"), this.ownTurn && this.ready && !this.searching);
  }

  words() {
    if (this.over) {
      const result = valueOf(this.state.outcome, this.side);
      return ["You lose", "A draw", "You win"][result + 1];
    }
    if (this.searching && !this.ready) return "Loading the player";
    if (this.ownTurn) return this.searching ? "Looking for a hint" : "Your move";
    return this.searching ? "It thinks" : "It cannot move";
  }
}

/** Return the view of `state` for board/board.js; with `playable`, cells offer their moves. */
function viewOf(player, game, state, playable) {
  const { board, style } = player;
  const cells = board.cells.map((cell, index) => ({
    ...cell,
    stone: state.cells[index],
    actions: [],
  }));
  for (const action of playable ? game.legalActions(state) : []) {
    const cell = game.cellOf(state, action);
    cells[cell].actions.push({ action, name: nameOf(player, game, state, action) });
  }
  const { rows, columns } = game;
  return {
    id: "page",
    serial: (serial += 1),
    game: player.game.name,
    board: {
      ...board,
      cells,
      last: state.last < 0 ? null : lastCell(game, state),
      source: null,
      winning: winningCells(game, state),
    },
    board_style: style,
    looks: player.looks,
    rows,
    columns,
    side_names: player.side_names,
    ply: state.ply,
    to_play: state.ply % 2,
  };
}

/** Return an action's name: the column's number, or the cell's. */
function nameOf({ board }, game, state, action) {
  const named = game.numActions === game.columns;
  return named ? String(action + 1) : board.cells[game.cellOf(state, action)].label;
}

/** Return the cells of the winner's lines. */
function winningCells(game, { cells }) {
  return [...cells.keys()].filter((cell) => cells[cell] !== 0 && game.completesLine(cells, cell));
}

/** Return the cell of the last move: in a column, its topmost stone. */
function lastCell(game, { cells, last }) {
  if (game.numActions !== game.columns) return last;
  let cell = last;
  while (cells[cell] === 0) cell += game.columns;
  return cell;
}

async function start() {
  followTheme(byId("theme"));
  const words = (simulations) => (simulations === 0 ? "none: no search" : count(simulations));
  byId("level").append(...LEVELS.map((value) => make("option", { value }, words(value))));
  byId("level").value = DEFAULT_LEVEL;
  const player = await (await fetch(new URL("player.json", import.meta.url))).json();
  document.title = player.title;
  setText(byId("game-title"), player.title);
  const { dataset } = document.documentElement;
  dataset.material = player.material;
  [dataset.first, dataset.second] = player.looks;
  setText(byId("about"), player.about);
  const table = new Table(player);
  press(byId("new-game"), () => table.begin());
  press(byId("undo"), () => table.undo());
  press(byId("hint"), () => table.askHint());
  byId("side").addEventListener("change", () => table.begin());
}

start().catch((error) => setText(byId("message"), `The page does not start: ${error.message}`));
