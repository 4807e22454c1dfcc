// The page: components show one view of a session. User actions are sent as commands; responses
// and streamed events both bring a view.

import * as api from "./lib/api.js";
import { Board } from "./components/board.js";
import { Candidates } from "./components/candidates.js";
import { NewGame, askText, chooseAction, isWholeGame } from "./components/dialogs.js";
import {
  byId, make, press, reuseChildren, setAttribute, setEnabled, setOptions, setText, title,
} from "./lib/dom.js";
import { Graph } from "./components/value_graph.js";
import { Moves } from "./components/move_list.js";
import { endOf, searchResultOf } from "./components/search_result.js";
import { Runs } from "./components/run_browser.js";
import { Sides, defaultSides, playersOf } from "./components/players.js";
import { followTheme } from "./lib/theme.js";

const SESSION_KEY = "alphazero-session";

class Page {
  constructor(setup) {
    this.setup = setup;
    this.view = null;
    this.layer = "visits";
    this.line = null;
    /** Promise of the last command: commands run one by one, so that responses keep their order. */
    this.last = Promise.resolve();

    const goTo = (ply) => this.goTo(ply);
    this.board = new Board(byId("board"), (actions) => this.play(actions));
    this.graph = new Graph(byId("graph"), { goTo, stepBy: (plies) => this.stepBy(plies) });
    this.moves = new Moves(byId("moves"), byId("branches"), {
      goTo,
      branch: (ply, index) => this.send("branch", { ply, index }),
    });
    this.candidates = new Candidates(byId("search"), {
      play: (action) => this.send("move", { action }),
      show: (candidate) => this.showLine(candidate),
    });
    this.sides = new Sides(byId("sides"), (sides) => this.send("sides", { sides }));
    this.newGame = new NewGame(setup);
    this.runs = new Runs(byId("runs"), setup.runs, {
      open: (game) => this.send("open", game),
      play: ({ game, player }) => this.send("new", { game, sides: [{ player: "human" }, { player }] }),
      renew: async () => Object.assign(this.setup, await api.readSetup()),
      fail: (error) => this.say(error.message),
    });
    this.listenToButtons();
    this.listenToKeys();
  }

  listenToButtons() {
    for (const name of ["undo", "redo", "hint", "resign", "step"]) {
      press(byId(name), () => this.send(name));
    }
    press(byId("pause"), () => this.send("pause", { on: !this.view.paused }));
    press(byId("first"), () => this.goTo(0));
    press(byId("back"), () => this.stepBy(-1));
    press(byId("forward"), () => this.stepBy(1));
    press(byId("last"), () => this.goTo(this.view.moves.length));
    const analyze = (on) => this.send("analyze", { on, player: byId("analysis-player").value });
    press(byId("analyze"), () => analyze(!this.view.analyzing));
    byId("analysis-player").addEventListener("change", () => this.view.analyzing && analyze(true));
    byId("layers").addEventListener("change", (event) => {
      this.layer = event.target.value;
      this.show();
    });
    press(byId("new-game"), async () => {
      const wanted = await this.newGame.ask(this.view);
      if (wanted) this.send("new", wanted);
    });
    for (const format of ["sgf", "json"]) press(byId(`save-${format}`), () => this.save(format));
    press(byId("load"), async () => {
      const text = await askText();
      if (text === null) return;
      if (isWholeGame(text)) this.send("load", { text });
      else this.send("paste", { moves: text });
    });
  }

  /** Arrow keys step through the game, except in controls with their own arrow keys. */
  listenToKeys() {
    document.addEventListener("keydown", (event) => {
      if (event.target.closest("input, select, textarea, dialog")) return;
      if (event.altKey || event.ctrlKey || event.metaKey) return;
      const plies = { ArrowLeft: -1, ArrowRight: 1 }[event.key];
      if (!plies) return;
      event.preventDefault();
      this.stepBy(plies);
    });
  }

  /** Resume the session of this window if there is one, else open a session. */
  async start() {
    const known = sessionStorage.getItem(SESSION_KEY);
    if (known) this.listen(known);
    else await this.begin(defaultGame(this.setup), null);
  }

  /** Open a session; `before` is the view of a lost session, whose moves are replayed. */
  async begin(game, before) {
    try {
      const sides = before?.sides ?? defaultSides(this.setup, game);
      const view = await api.openSession(game, sides);
      sessionStorage.setItem(SESSION_KEY, view.id);
      this.listen(view.id);
      this.receive(view);
      const moves = before?.moves.slice(0, before.ply).map(({ name }) => name) ?? [];
      if (moves.length > 0) await this.send("paste", { moves: moves.join(" ") });
    } catch (error) {
      this.say(error.message);
    }
  }

  listen(id) {
    this.stream?.close();
    this.stream = api.listen(id, {
      onView: (view) => this.receive(view),
      onSearch: (search) => this.receiveSearch(search),
      onRuns: (runs) => this.runs.follow(runs),
      onReconnect: () => this.isLost && this.say("", (this.isLost = false)),
      onLost: () => this.say("Connection lost; reconnecting.", (this.isLost = true)),
      onEnd: () => this.begin(this.view?.game ?? defaultGame(this.setup), this.view),
    });
  }

  /** Send a command after the pending ones. */
  send(name, body = {}) {
    this.last = this.last.then(() => this.command(name, body));
    return this.last;
  }

  /** Send a command and show the new view or the error. */
  async command(name, body) {
    try {
      const view = await api.command(this.view.id, name, body);
      this.say("");
      this.receive(view);
    } catch (error) {
      this.say(error.message);
    }
  }

  /** Go to a position; while the user drags in the graph, intermediate ones are skipped. */
  goTo(ply) {
    if (!this.view || ply < 0 || ply > this.view.moves.length) return;
    const isRunning = this.targetPly !== undefined;
    this.targetPly = ply;
    if (!isRunning) this.last = this.last.then(() => this.runGoTo());
  }

  async runGoTo() {
    let sent;
    while (sent !== this.targetPly) {
      sent = this.targetPly;
      await this.command("goto", { ply: sent });
    }
    this.targetPly = undefined;
  }

  /** Step from the target of the last step, whose response may be pending. */
  stepBy(plies) {
    if (this.view) this.goTo((this.targetPly ?? this.view.ply) + plies);
  }

  /** Download the game with a click on a temporary link. */
  async save(format) {
    try {
      const { name, content } = await api.readFile(this.view.id, format);
      const link = make("a", { href: URL.createObjectURL(content), download: name });
      link.click();
      URL.revokeObjectURL(link.href);
      this.say("");
    } catch (error) {
      this.say(error.message);
    }
  }

  async play(actions) {
    const action = await chooseAction(actions);
    if (action !== null) this.send("move", { action });
  }

  receive(view) {
    // An event has brought a newer view.
    if (this.view?.id === view.id && view.serial < this.view.serial) return;
    const before = this.view;
    this.view = view;
    if (view.message) this.say(view.message);
    if (!before || before.id !== view.id || before.ply !== view.ply) this.line = null;
    setText(byId("spoken"), announcement(before, view));
    this.show();
  }

  receiveSearch(search) {
    if (!this.view || search.ply !== this.view.ply) return;
    this.view.search = search;
    // Draw at most once per frame.
    this.frame ??= requestAnimationFrame(() => {
      this.frame = undefined;
      this.showSearch();
    });
  }

  showLine(candidate) {
    this.line = candidate && candidate.line.length > 0 ? candidate.line : null;
    this.showBoard();
  }

  showBoard() {
    const chosen = this.chosenLayer();
    const layer = this.view.hint && chosen === "off" ? "visits" : chosen;
    this.board.show(this.view, searchResultOf(this.view), layer, this.line);
  }

  /** Return the layer that the user chose, if the game has it. */
  chosenLayer() {
    return this.layer === "territory" && !this.view.has_territory ? "visits" : this.layer;
  }

  showSearch() {
    this.showBoard();
    this.candidates.show(this.view, searchResultOf(this.view), endOf(this.view));
  }

  show() {
    const { view } = this;
    this.showSearch();
    byId("save-sgf").hidden = !view.sgf;
    this.graph.show(view);
    this.moves.show(view);
    this.sides.show(this.setup, view.game, view.sides, view.signs);
    this.showStatus(view);
    this.showButtons(view);
    this.showOffboardMoves(view);
    document.title = `${title(view.game)} · alphazero`;
  }

  showStatus(view) {
    setText(byId("game"), title(view.game));
    setText(byId("status-text"), view.status);
    setText(byId("wait"), engineStatus(view));
    setText(byId("source"), view.source ?? "");
    const status = byId("status");
    status.dataset.mover = view.over ? "" : view.to_play === 0 ? "first" : "second";
    status.classList.toggle("thinking", view.thinking || view.analyzing);
    setText(byId("ply"), `${view.ply} / ${view.moves.length}`);
    const layer = this.chosenLayer();
    byId("territory").hidden = !view.has_territory;
    for (const radio of byId("layers").elements) radio.checked = radio.value === layer;
  }

  showButtons(view) {
    const { ply, moves, over, paused, sides, analyzing, thinking } = view;
    const isPerson = (side) => side.player === "human";
    const ended = over && ply === moves.length;
    for (const name of ["undo", "first", "back"]) setEnabled(byId(name), ply > 0);
    for (const name of ["redo", "forward", "last"]) setEnabled(byId(name), ply < moves.length);
    setEnabled(byId("hint"), !over && !analyzing);
    setEnabled(byId("resign"), !ended && sides.some(isPerson));
    byId("pause").hidden = sides.every(isPerson);
    byId("step").hidden = sides.every(isPerson);
    setText(byId("pause"), paused ? "Resume" : "Pause");
    setAttribute(byId("pause"), "aria-pressed", paused);
    setEnabled(byId("step"), paused && !over && !isPerson(sides[view.to_play]) && !thinking);
    const analyzers = playersOf(this.setup, view.game).filter(({ searches }) => searches);
    const names = analyzers.map(({ name }) => [name, name]);
    setOptions(byId("analysis-player"), names, view.analysis_player ?? undefined);
    byId("analysis-player").hidden = names.length < 2;
    setEnabled(byId("analyze"), analyzers.length > 0);
    setText(byId("analyze"), analyzing ? "Stop" : "Analyze");
    setAttribute(byId("analyze"), "aria-pressed", analyzing);
  }

  showOffboardMoves({ offboard_moves: moves }) {
    const box = byId("offboard");
    box.hidden = moves.length === 0;
    reuseChildren(box, moves.length, () => make("button", { type: "button" }));
    moves.forEach(({ action, name }, index) => {
      const button = box.children[index];
      setText(button, name);
      setAttribute(button, "aria-label", `Play ${name}`);
      button.onclick = () => this.send("move", { action });
    });
  }

  say(message) {
    setText(byId("message"), message);
  }
}

/** Return the initial game: that of the first checkpoint, else the first one. */
function defaultGame({ players, games }) {
  return players.find(({ game }) => game)?.game ?? games[0].name;
}

/** Describe what the engine to move is doing; empty if the user is to move. */
function engineStatus({ sides, to_play, over, paused, thinking }) {
  if (over || sides[to_play].player === "human") return "";
  if (paused) return "paused";
  return thinking ? "thinking" : "";
}

/** Return the screen reader announcement of a change. */
function announcement(before, view) {
  const move = view.moves[view.ply - 1];
  if (before?.id === view.id && before.ply === view.ply) {
    if (view.hint && !before.hint) return `Hint: ${view.search.candidates[0].name}`;
    return view.status === before.status ? byId("spoken").textContent : view.status;
  }
  if (!move) return `${title(view.game)}. ${view.status}`;
  return `Move ${view.ply}: ${view.signs[move.player]} ${move.name}. ${view.status}`;
}

followTheme(byId("theme"));
try {
  await new Page(await api.readSetup()).start();
} catch (error) {
  setText(byId("message"), error.message);
}
