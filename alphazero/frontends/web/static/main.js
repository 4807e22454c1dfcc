// The page: components show one view of a session. User actions are sent as commands; responses
// and streamed events both bring a view.

import { Board } from "./board/board.js";
import { Candidates, positionOf } from "./components/candidates.js";
import { NewGame, askText, chooseAction, readLink, share } from "./components/dialogs.js";
import { Layers } from "./components/layers.js";
import { Moves } from "./components/move_list.js";
import { Sides } from "./components/players.js";
import { ReviewPanel } from "./components/review.js";
import { Scoreboard } from "./components/scoreboard.js";
import { Graph } from "./components/value_graph.js";
import {
  byId, followTheme, press, recall, remember, setAttribute, setEnabled, setOptions, setText, showButtons,
} from "./lib/dom.js";

const SESSION_KEY = "alphazero-session";
const VIEW_KEY = "alphazero-view";
const LOST = "Connection lost; reconnecting.";

/** Milliseconds after which a lost session that was refused is opened again. */
const RETRY = 10000;

class Page {
  constructor(setup) {
    this.setup = setup;
    /** The view, of `view.py`; null before the first one. */
    this.view = null;
    /** The line of moves that is shown on the board, or null. */
    this.line = null;
    /** The ply at which the user moved last. */
    this.movedAt = undefined;
    /** Promise of the last command: commands run one by one, so that responses keep their order. */
    this.last = Promise.resolve();

    const goTo = (ply) => this.goTo(ply);
    const send = (name, body) => this.send(name, body);
    this.board = new Board(byId("board"), (actions, click) => this.play(actions, click));
    this.scoreboard = new Scoreboard();
    this.layers = new Layers(byId("layer"), byId("layer-note"), () => this.chooseLayer());
    this.graph = new Graph(byId("graph"), goTo);
    this.moves = new Moves(byId("moves"), byId("branches"), {
      goTo, branch: (ply, index) => send("branch", { ply, index }),
    });
    this.candidates = new Candidates(byId("search"), {
      play: (action, click) => this.move(action, click), show: (line) => this.showLine(line),
    });
    this.review = new ReviewPanel(byId("review"), { goTo, send });
    this.sides = new Sides(byId("sides"), (sides) => send("sides", { sides }));
    this.newGame = new NewGame(setup);
    this.listenToButtons();
    document.addEventListener("keydown", (event) => this.onKey(event));
    addEventListener("hashchange", () => this.openLink());
  }

  listenToButtons() {
    const analyze = (on) => this.send("analyze", { on, player: byId("analysis-player").value });
    for (const name of ["undo", "hint", "resign", "turn"]) press(byId(name), () => this.send(name));
    press(byId("pause"), () => this.send("pause", { on: !this.view.paused }));
    press(byId("first"), () => this.goTo(0));
    press(byId("back"), () => this.stepBy(-1));
    press(byId("forward"), () => this.stepBy(1));
    press(byId("last"), () => this.goTo(this.view.moves.length));
    press(byId("analyze"), () => analyze(!this.view.analyzing));
    byId("analysis-player").addEventListener("change", () => analyze(this.view.analyzing));
    press(byId("new-game"), () => {
      this.newGame.ask(this.view, (game) => this.command("new", { game }));
    });
    press(byId("rematch"), () => this.send("new", { sides: [...this.view.sides].reverse() }));
    press(byId("share"), () => share(this.view));
    press(byId("load"), () => askText((text, data) => this.load(text, data)));
  }

  /** Arrow keys step through the game, except in controls with their own. */
  onKey(event) {
    if (event.target.closest("input, select, textarea, dialog")) return;
    if (event.altKey || event.ctrlKey || event.metaKey) return;
    const plies = { ArrowLeft: -1, ArrowRight: 1 }[event.key];
    if (!plies) return;
    this.stepBy(plies);
    event.preventDefault();
  }

  /** Open the game of a link, else the session of this window, else a new session. */
  async start() {
    const session = recall("sessionStorage", SESSION_KEY);
    if (await this.openLink()) return;
    if (session) this.listen(session);
    else await this.begin(defaultGame(this.setup), null);
  }

  /** Open the game in the address, if there is one; then the address is as before. */
  async openLink() {
    const link = readLink(location.hash);
    if (!location.hash || location.hash === "#board") return false;
    history.replaceState(null, "", location.pathname);
    if (!link) {
      this.say("This link has no game.");
      return false;
    }
    const moves = link.moves.split(" ").filter(Boolean).map((name) => ({ name }));
    return this.begin(link.game, { moves, ply: moves.length, start: link.start });
  }

  /** Open a session; `before` is the view of a lost session, whose line is replayed. */
  async begin(game, before) {
    const create = (sides) => request("POST", "/api/sessions", { game, sides });
    try {
      let refusal = "";
      const view = await create(before?.sides).catch((error) => {
        if (!before?.sides) throw error;
        refusal = error.message; // perhaps the server has other players now
        return create();
      });
      if (before?.sides) Object.assign(this.setup, await request("GET", "/api/setup"));
      this.stream?.close();
      remember("sessionStorage", SESSION_KEY, view.id);
      this.receive(view);
      if (this.layers.choice === "territory") this.chooseLayer();
      if (before?.start) await this.send("load", { text: before.start });
      const moves = before?.moves.map(({ name }) => name) ?? [];
      if (moves.length > 0) await this.send("paste", { moves: moves.join(" ") });
      const loser = before?.resigned ?? null;
      if (loser !== null) await this.send("resign", { player: loser });
      if (before?.ply < moves.length) await this.send("goto", { ply: before.ply });
      else if (before?.paused === false && !refusal) await this.send("pause", { on: false });
      if (refusal) this.say(refusal);
      this.listen(view.id); // players begin to think, after the moves are replayed
      return true;
    } catch (error) {
      this.say(error.message);
      return false;
    }
  }

  /** Follow a session. The browser reconnects by itself, unless an answer says that it has ended. */
  listen(id) {
    this.stream?.close();
    const stream = new EventSource(`/api/sessions/${id}/events`);
    this.stream = stream;
    stream.addEventListener("view", ({ data }) => this.receive(JSON.parse(data)));
    stream.addEventListener("search", ({ data }) => this.receiveSearch(JSON.parse(data)));
    stream.addEventListener("open", () => byId("message").textContent === LOST && this.say(""));
    stream.addEventListener("error", () => {
      if (stream.readyState !== EventSource.CLOSED) this.say(LOST);
      else this.reopen(stream);
    });
  }

  /** Open the game of a lost session in a new one, as soon as the server allows it. */
  async reopen(stream) {
    if (stream !== this.stream) return; // the user has opened another game meanwhile
    // Of before a reload, if the page has been loaded since.
    const lost = this.view ?? JSON.parse(recall("sessionStorage", VIEW_KEY));
    const isOpen = await this.begin(lost?.game ?? defaultGame(this.setup), lost)
      || (!this.view && await this.begin(defaultGame(this.setup))); // perhaps its game is gone
    if (!isOpen) setTimeout(() => this.reopen(stream), RETRY);
  }

  /** Send a command after the pending ones; show its error. */
  async send(name, body = {}) {
    const error = await this.command(name, body);
    if (!error) return;
    this.say(error);
    if (!this.view) return;
    this.show(); // also what was refused, as it was
    this.board.putDown();
  }

  /** Send a command after the pending ones and show the new view; return the error, or "". */
  command(name, body) {
    const run = async () => {
      if (!this.view) return "No game is open yet.";
      try {
        const view = await request("POST", `/api/sessions/${this.view.id}/${name}`, body);
        this.say(view.message); // also if an event has brought a newer view, without the message
        this.receive(view);
        return "";
      } catch (error) {
        return error.message;
      }
    };
    this.last = this.last.then(run);
    return this.last;
  }

  /** Load a game in SGF, PGN or JSON, or a FEN, or play pasted moves; return the error, or "". */
  load(text, data = undefined) {
    return text ? this.command("load", data === undefined ? { text } : { data }) : "";
  }

  chooseLayer() {
    this.show();
    this.send("territory", { on: this.layers.choice === "territory" });
  }

  /** Go to a position; while the user drags in the graph, intermediate ones are skipped. */
  goTo(ply) {
    if (!this.view || ply < 0 || ply > this.view.moves.length) return;
    const isRunning = this.targetPly !== undefined;
    this.targetPly = ply;
    if (!isRunning) this.runGoTo();
  }

  async runGoTo() {
    let sent;
    while (sent !== this.targetPly) {
      sent = this.targetPly;
      await this.send("goto", { ply: sent });
    }
    this.targetPly = undefined;
  }

  /** Step from the target of the last step, whose response may be pending. */
  stepBy(plies) {
    if (this.view) this.goTo((this.targetPly ?? this.view.ply) + plies);
  }

  async play(actions, click) {
    const { ply } = this.view;
    const action = await chooseAction(actions, this.view);
    if (action === null) this.board.putDown();
    else this.move(action, click, ply);
  }

  /** Play a move where it was chosen, and not by the second click of a double click after an answer. */
  move(action, { detail }, ply = this.view.ply) {
    if (detail > 1 && ply > this.movedAt + 1) return;
    this.movedAt = ply;
    this.send("move", { action, ply });
  }

  receive(view) {
    // An event has brought a newer view.
    if (this.view?.id === view.id && view.serial < this.view.serial) return;
    const before = this.view;
    this.view = view;
    remember("sessionStorage", VIEW_KEY, JSON.stringify(view));
    if (!before || positionOf(before) !== positionOf(view)) this.line = null;
    if (view.message || (before && before.ply !== view.ply)) this.say(view.message);
    setText(byId("spoken"), announcement(before, view));
    this.show();
  }

  receiveSearch({ ply, search }) {
    if (!this.view || ply !== this.view.ply) return;
    this.view.search = search;
    // Draw at most once per frame.
    this.frame ??= requestAnimationFrame(() => {
      this.frame = undefined;
      this.showSearch();
    });
  }

  showLine(line) {
    this.line = line?.length > 0 ? line : null;
    this.showBoard();
  }

  showBoard() {
    const { view, line } = this;
    this.board.show(view, this.layers.of(view), line);
  }

  showSearch() {
    this.showBoard();
    this.scoreboard.showChance(this.view);
    this.candidates.show(this.view);
  }

  show() {
    const { view } = this;
    const [first, second] = view.looks;
    Object.assign(document.documentElement.dataset, { material: view.material, first, second });
    this.scoreboard.show(view);
    this.layers.show(view);
    this.showSearch();
    this.graph.show(view, this.targetPly ?? view.ply);
    this.moves.show(view);
    this.review.show(view);
    this.sides.show(this.setup.players, view);
    this.showButtons(view);
    this.showOffboardMoves(view);
    setText(byId("game"), view.title);
    document.title = `${view.title} · alphazero`;
  }

  showButtons({ ply, moves, over: ended, paused, sides, available, analyzing, analysis_player: analyst,
    has_sides: sided, turned }) {
    const isPerson = (side) => side.player === "person";
    for (const name of ["undo", "first", "back"]) setEnabled(byId(name), ply > 0);
    for (const name of ["forward", "last"]) setEnabled(byId(name), ply < moves.length);
    setEnabled(byId("hint"), !ended && !analyzing);
    setEnabled(byId("resign"), !ended && sides.some(isPerson));
    byId("turn").hidden = !sided;
    setAttribute(byId("turn"), "aria-pressed", turned);
    byId("resign").hidden = ended;
    byId("rematch").hidden = !ended;
    byId("pause").hidden = sides.every(isPerson);
    setText(byId("pause"), paused ? "Resume" : "Pause");
    setAttribute(byId("pause"), "aria-pressed", paused);
    const analysts = this.setup.players.filter(
      ({ name, searches }) => searches && available.includes(name),
    );
    setOptions(byId("analysis-player"), analysts.map(({ name }) => [name, name]), analyst);
    byId("analysis-player").hidden = analysts.length < 2;
    setText(byId("analyze"), analyzing ? "Stop" : "Analyze");
    setAttribute(byId("analyze"), "aria-pressed", analyzing);
  }

  showOffboardMoves({ offboard_moves: moves, hint, search }) {
    const best = hint ? search?.candidates[0]?.action : undefined;
    showButtons(byId("offboard"), moves, ({ action, name }) => ({
      text: name[0].toUpperCase() + name.slice(1),
      action: (click) => this.move(action, click),
      class: action === best ? "strong" : "",
      "aria-label": `Play ${name}`,
    }));
  }

  say(message) {
    setText(byId("message"), message);
  }
}

/** Send a request; errors have a one-line message for the user. */
async function request(method, path, body) {
  let response;
  try {
    const headers = body ? { "Content-Type": "application/json" } : {};
    response = await fetch(path, { method, headers, body: body && JSON.stringify(body) });
  } catch {
    throw new Error("The server does not respond. Is it still running?");
  }
  const content = await response.json();
  if (!response.ok) throw new Error(content.error);
  return content;
}

/** Return the initial game: that of the first checkpoint, else the first one. */
function defaultGame({ players, games }) {
  return players.find(({ game }) => game)?.game ?? games[0].name;
}

/** Return the screen reader announcement of a change. */
function announcement(before, view) {
  const move = view.moves[view.ply - 1];
  if (before?.id === view.id && before.ply === view.ply) {
    if (view.hint && !before.hint) return `Hint: ${view.search.candidates[0].name}`;
    return view.status === before.status ? byId("spoken").textContent : view.status;
  }
  if (!move) return `${view.title}. ${view.status}`;
  return `Move ${view.ply}: ${view.side_names[move.player]} ${move.name}. ${view.status}`;
}

followTheme(byId("theme"));
try {
  await new Page(await request("GET", "/api/setup")).start();
} catch (error) {
  setText(byId("message"), error.message);
}
