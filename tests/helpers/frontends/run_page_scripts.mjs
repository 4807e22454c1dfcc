// Runs the scripts of the static page in node, for tests. Reads {files, games, searches} as JSON from
// standard input; writes {games, searches}.
//
// A game is {game, actions}: answered by a hash of one line per position, "legal outcome planes".
// A search is {game, settings, leaves, moves: [[...], ...], simulations}: after each list of moves a
// search from there, with the tree kept, answered by the root's visits and value.

import { createHash } from "node:crypto";
import { pathToFileURL } from "node:url";

const chunks = [];
for await (const chunk of process.stdin) chunks.push(chunk);
const asked = JSON.parse(Buffer.concat(chunks));
const load = (name) => import(pathToFileURL(`${asked.files}/${name}`));
const { makeGame } = await load("rules.js");
const { Search } = await load("search.js");

function line(game, state) {
  const legal = Array(game.numActions).fill(0);
  for (const action of game.legalActions(state)) legal[action] = 1;
  const planes = new Float32Array(game.numPlanes * game.size + 1).fill(0);
  planes[0] = 7; // what stands before the offset stays
  game.observe(state, planes, 1);
  return `${legal.join("")} ${state.outcome} ${planes.join("")}`;
}

function playGame({ game: description, actions }) {
  const game = makeGame(description);
  let state = game.initialState();
  const lines = [line(game, state)];
  for (const action of actions) {
    state = game.play(state, action);
    lines.push(line(game, state));
  }
  return createHash("sha256").update(lines.join("\n")).digest("hex");
}

/** The same as `pretend` in test_writer.py: answers that depend on every cell. */
function pretend(planes, size, numActions) {
  const rows = planes.length / size;
  const logits = new Float32Array(rows * numActions);
  const values = new Float32Array(rows);
  for (let row = 0; row < rows; row += 1) {
    const seen = planes.subarray(row * size, (row + 1) * size);
    for (let action = 0; action < numActions; action += 1) {
      const sum = seen.reduce((total, plane, index) => total + plane * ((index * (action + 3)) % 7), 0);
      logits[row * numActions + action] = (sum % 11) / 4;
    }
    const sum = seen.reduce((total, plane, index) => total + plane * ((index * index) % 13), 0);
    values[row] = ((sum % 17) - 8) / 16;
  }
  return { logits, values };
}

function runSearch({ game: description, settings, leaves, moves, simulations }) {
  const game = makeGame(description);
  const search = new Search(game, settings, leaves);
  return moves.map((actions) => {
    for (const action of actions) search.advance(action);
    search.begin(simulations);
    while (!search.isDone) {
      const planes = search.select();
      if (planes.length === 0) continue;
      const { logits, values } = pretend(planes, search.planeSize, game.numActions);
      search.answer(logits, values);
    }
    const visits = Array(game.numActions).fill(0);
    for (const { action, visits: count } of search.candidates) visits[action] = count;
    return { visits, value: search.value };
  });
}

process.stdout.write(JSON.stringify({
  games: (asked.games ?? []).map(playGame),
  searches: (asked.searches ?? []).map(runSearch),
}));
