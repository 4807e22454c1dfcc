// The search result of the shown position, in one format for searches and run records.

/** Maximum candidates of a record, as in searches. */
const MAX_CANDIDATES = 32;

/**
 * Return the search result of a view, or null: that of a search here, else that of a run's record,
 * with the recorded search policy and value, and the prior and value of the current network.
 * Values are for the player to move; candidates are best first, with null for unknown fields.
 * @param {import("../../types").View} view
 * @returns {import("../../types").Result}
 */
export function searchResultOf(view) {
  if (view.search) return { recorded: false, ...view.search };
  return view.recorded ? fromRecord(view) : null;
}

/**
 * Return how the game of a view will end, {margin, ownership}, each null if unknown: by the rules,
 * else by the network that has searched; or null.
 * @param {import("../../types").View} view
 * @returns {import("../../types").End}
 */
export function endOf(view) {
  return view.end ?? view.search?.end ?? null;
}

function fromRecord({ board, offboard_moves, recorded }) {
  const shares = new Map(recorded.policy ?? []);
  const priors = new Map(recorded.prior ?? []);
  const candidates = [];
  const add = (action, name, cell) => {
    const share = shares.get(action) ?? 0;
    const prior = priors.get(action) ?? 0;
    candidates.push({
      action, name, cell, source: null, visits: null, share, value: null, prior, line: [], replies: [],
    });
  };
  board.cells.forEach(({ actions }, cell) => {
    for (const { action, name } of actions) add(action, name, cell);
  });
  for (const { action, name } of offboard_moves) add(action, name, null);
  candidates.sort((one, other) => other.share - one.share || other.prior - one.prior);
  return {
    recorded: true,
    value: recorded.value,
    network_value: recorded.network_value,
    simulations: null,
    per_second: null,
    candidates: candidates.slice(0, MAX_CANDIDATES),
  };
}

/** Return the candidate with the highest prior. */
export function bestByPrior({ candidates }) {
  return candidates.reduce((best, one) => (one.prior > best.prior ? one : best));
}
