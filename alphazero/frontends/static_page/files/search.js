// Tree search by PUCT with a network, for one game.
//
// The same as alphazero/mcts/kernels/simulation.py and puct.py with `selection: puct`, without
// proofs and transpositions; a test compares the visits. Every value is for the player who chooses:
// `backUp` negates it once per ply, and nothing else changes a sign.

import { ONGOING, valueOf } from "./rules.js";

/** Rounds without an evaluation before the caller may look at the clock. */
const MAX_FREE_ROUNDS = 1000;

export class Search {
  /**
   * `settings`: {c_puct, c_puct_base, fpu_reduction}, as in the player's training; `leaves` of the
   * tree are evaluated together; the pending ones count as visits.
   */
  constructor(game, settings, leaves) {
    Object.assign(this, { game, settings, leaves });
    this.planeSize = game.numPlanes * game.size;
    this.reset(game.initialState());
  }

  /** Search from `state`, with an empty tree. */
  reset(state) {
    this.state = state;
    this.root = null;
    this.remaining = 0;
    this.round = [];
  }

  /** Play an action; keep its subtree. */
  advance(action) {
    this.state = this.game.play(this.state, action);
    this.root = this.root?.edges.find((edge) => edge.action === action)?.child ?? null;
    this.remaining = 0;
    this.round = [];
  }

  /** Ask for `simulations` more. */
  begin(simulations) {
    this.remaining = simulations;
  }

  get isDone() {
    return this.root !== null && this.remaining <= 0;
  }

  /**
   * Select leaves until some wait for the network; return their planes as one Float32Array, empty
   * if the search is done or ran many simulations without the network.
   */
  select() {
    if (this.root === null && this.state.outcome !== ONGOING) {
      this.root = endNode(this.state);
    }
    for (let free = 0; free < MAX_FREE_ROUNDS; free += 1) {
      this.round = [];
      while (this.round.length < this.leaves && this.walk());
      const waiting = this.round.filter((leaf) => leaf.expands);
      if (waiting.length > 0) {
        const planes = new Float32Array(waiting.length * this.planeSize);
        waiting.forEach(({ state }, row) => this.game.observe(state, planes, row * this.planeSize));
        return planes;
      }
      if (this.round.length === 0) break;
      this.backUpRound();
    }
    return new Float32Array(0);
  }

  /** Take the network's answers to the planes of `select`: logits [rows x actions], values [rows]. */
  answer(logits, values) {
    this.round.filter((leaf) => leaf.expands).forEach((leaf, row) => {
      leaf.value = values[row];
      leaf.logits = logits.subarray(row * this.game.numActions, (row + 1) * this.game.numActions);
    });
    this.backUpRound();
  }

  /** Walk once from the root to a leaf; return false if none can be reached now. */
  walk() {
    const leaf = { path: [], state: this.state, value: 0, expands: true, logits: null };
    if (this.root === null) {
      if (this.round.length > 0) return false;
    } else {
      if (this.root.edges.length === 0) this.remaining = 0;
      if (this.remaining <= 0 || !this.descend(leaf)) return false;
      this.remaining -= 1;
    }
    for (const edge of leaf.path) edge.pending += 1;
    this.round.push(leaf);
    return true;
  }

  descend(leaf) {
    let node = this.root;
    do {
      const edge = selectEdge(node, this.settings);
      leaf.state = this.game.play(leaf.state, edge.action);
      leaf.path.push(edge);
      if (edge.child === null) {
        // A leaf at which another one of this round waits ends the round.
        if (leaf.state.outcome === ONGOING) return edge.pending === 0;
        edge.child = endNode(leaf.state);
      }
      node = edge.child;
    } while (node.edges.length > 0);
    leaf.expands = false;
    leaf.value = node.value;
    return true;
  }

  backUpRound() {
    for (const leaf of this.round) {
      for (const edge of leaf.path) edge.pending -= 1;
      if (leaf.expands) this.expand(leaf);
      backUp(leaf);
    }
    this.round = [];
  }

  /** Add the leaf's node; its priors are the softmax of the logits over legal actions. */
  expand({ path, state, value, logits }) {
    const actions = this.game.legalActions(state);
    const highest = Math.max(...actions.map((action) => logits[action]));
    const weights = actions.map((action) => Math.exp(logits[action] - highest));
    const total = weights.reduce((sum, weight) => sum + weight, 0);
    const edges = actions.map((action, index) => ({
      action,
      prior: Math.fround(weights[index] / total),
      visits: 0,
      pending: 0,
      valueSum: 0,
      child: null,
    }));
    const node = { value, edges };
    if (path.length > 0) path.at(-1).child = node;
    else this.root = node;
  }

  /** The mean of all evaluations below the root, for the player to move. */
  get value() {
    const { value, edges } = this.root;
    const visits = edges.reduce((sum, edge) => sum + edge.visits, 0);
    return (value + edges.reduce((sum, edge) => sum + edge.valueSum, 0)) / (1 + visits);
  }

  /** The root's actions, the most visited first: {action, visits, share, value, prior}. */
  get candidates() {
    const visits = this.root.edges.reduce((sum, edge) => sum + edge.visits, 0);
    return this.root.edges
      .map((edge) => ({
        action: edge.action,
        visits: edge.visits,
        share: visits > 0 ? edge.visits / visits : edge.prior,
        value: edge.visits > 0 ? edge.valueSum / edge.visits : null,
        prior: edge.prior,
      }))
      .sort((one, other) => other.share - one.share || one.action - other.action);
  }
}

/** Return the node of a finished game. */
const endNode = ({ outcome, ply }) => ({ value: valueOf(outcome, ply % 2), edges: [] });

/** Add a simulation to every edge of its path; `value` is for the player to move at the leaf. */
function backUp({ path, value }) {
  for (const edge of path.toReversed()) {
    value = -value;
    edge.visits += 1;
    edge.valueSum += value;
  }
}

/**
 * Return the edge with the highest Q + c_puct P sqrt(sum N) / (1 + N), where pending simulations
 * count as visits without a value. Ties go to the higher prior, then to the earlier action.
 */
function selectEdge(node, { c_puct, c_puct_base, fpu_reduction }) {
  let [totalVisits, observed, totalValue] = [0, 0, 0];
  for (const edge of node.edges) {
    totalVisits += edge.visits + edge.pending;
    observed += edge.visits;
    totalValue += edge.valueSum;
  }
  const growth = c_puct_base > 0 ? Math.log((1 + totalVisits + c_puct_base) / c_puct_base) : 0;
  const root = Math.sqrt(totalVisits);
  const mean = (node.value + totalValue) / (1 + observed);
  const firstPlay = fpu_reduction === null ? 0 : mean - fpu_reduction;
  let [best, bestScore] = [null, -Infinity];
  for (const edge of node.edges) {
    const visits = edge.visits + edge.pending;
    let value = firstPlay;
    if (edge.visits > 0) value = edge.valueSum / edge.visits;
    const score = value + ((growth + c_puct) * edge.prior * root) / (1 + visits);
    if (score > bestScore || (score === bestScore && edge.prior > best.prior)) {
      [best, bestScore] = [edge, score];
    }
  }
  return best;
}
