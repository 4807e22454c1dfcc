// The search, off the page's thread, with the player's network by onnxruntime-web on one thread.
// It gets {load: player} once, then {id, moves, simulations, kind}, where `kind` is "reply" or "hint",
// or {id}, which only ends a search; it sends {ready}, {fault} and {id, done, simulations, perSecond,
// value, candidates}.

import { makeGame } from "./rules.js";
import { Search } from "./search.js";

/** Milliseconds between two reports of a search. */
const REPORT = 200;

let evaluate;
let game;
/** By kind, {search, moves, simulations}: a search, the moves to its position, and its last request's
 * simulations. A hint has a tree of its own, for the player must not reply by it. */
let trees;
let newest = 0;
let running = Promise.resolve();

const channel = new MessageChannel();

/** Let messages arrive, so that a later request can end this search. A timer waits for 4 ms. */
function nextTask() {
  return new Promise((resolve) => {
    channel.port1.onmessage = resolve;
    channel.port2.postMessage(null);
  });
}

async function load(player) {
  evaluate = await loadNetwork(player);
  game = makeGame(player.game);
  const tree = () => ({ search: new Search(game, player.search, player.leaves), moves: [] });
  trees = { reply: tree(), hint: tree() };
  const planes = player.leaves * trees.reply.search.planeSize;
  await evaluate(new Float32Array(planes)); // the first call is slow
  postMessage({ ready: true });
}

/** Take a search to a position; its tree stays if the same strength goes on from the last one. */
function goTo(tree, moves, simulations) {
  const { search, moves: before } = tree;
  const isNext = before.every((action, index) => moves[index] === action);
  const goesOn = isNext && tree.simulations === simulations;
  if (!goesOn) search.reset(game.initialState());
  for (const action of moves.slice(goesOn ? before.length : 0)) search.advance(action);
  Object.assign(tree, { moves, simulations });
}

async function run({ id, moves, simulations, kind }) {
  if (id !== newest || !moves) return;
  goTo(trees[kind], moves, simulations);
  const { search } = trees[kind];
  search.begin(simulations);
  const begin = performance.now();
  let lastReport = begin;
  const report = (done) => {
    const simulated = simulations - search.remaining;
    const perSecond = (1000 * simulated) / (performance.now() - begin);
    const { value, candidates } = search;
    postMessage({ id, done, simulations: simulated, perSecond, value, candidates });
  };
  while (!search.isDone && id === newest) {
    const planes = search.select();
    if (planes.length > 0) {
      const { logits, values } = await evaluate(planes);
      search.answer(logits, values);
    }
    await nextTask();
    if (performance.now() - lastReport > REPORT && search.root !== null) {
      lastReport = performance.now();
      report(false);
    }
  }
  if (id === newest) report(true);
}

onmessage = ({ data }) => {
  newest = data.id ?? newest;
  const task = data.load ? () => load(data.load) : () => run(data);
  running = running.then(task); // after a fault nothing else runs
  running.catch((error) => postMessage({ fault: error.message }));
};

/** Fetch a file and check it against its integrity hash, if it has one. */
async function fetchBytes({ url, integrity }) {
  const response = await fetch(url, integrity ? { integrity } : {});
  if (!response.ok) throw new Error(`${url}: ${response.status} ${response.statusText}`);
  return response.arrayBuffer();
}

/** Load the runtime and the model; return `evaluate(planes)`. */
async function loadNetwork({ runtime, model, shape }) {
  const [script, wasm, weights] = await Promise.all(
    [runtime.script, runtime.wasm, model].map(fetchBytes),
  );
  // A script from another host has no integrity attribute in a worker: it is fetched and checked.
  const address = URL.createObjectURL(new Blob([script], { type: "text/javascript" }));
  const ort = await import(address);
  URL.revokeObjectURL(address);
  ort.env.wasm.wasmBinary = wasm;
  ort.env.wasm.numThreads = 1; // more need headers that static hosts do not send
  const session = await ort.InferenceSession.create(new Uint8Array(weights), {
    executionProviders: ["wasm"],
  });
  const size = shape.reduce((product, length) => product * length, 1);

  /** Return {logits, values} of planes [rows x C x H x W]. */
  return async function evaluate(planes) {
    const observations = new ort.Tensor("float32", planes, [planes.length / size, ...shape]);
    const { policy_logits: logits, values } = await session.run({ observations });
    return { logits: logits.data, values: values.data };
  };
}
