// The search result of the shown position, in one format for searches and run records.

/**
 * Return the search result of a view, or null: that of a search here, else that of a run's record,
 * with the recorded search policy and value, and the prior and value of the current network.
 *
 * {value, first_value, simulations, per_second, recorded, candidates}: values for the player to
 * move; candidates best first, each {action, name, cell, visits, share, value, prior, line}, with
 * null for unknown fields.
 */
export function opinionOf(view) {
  if (view.thought) return { recorded: false, ...view.thought };
  return view.recorded ? fromRecord(view) : null;
}

function fromRecord({ board, elsewhere, recorded }) {
  const shares = new Map(recorded.policy ?? []);
  const priors = new Map(recorded.prior ?? []);
  const candidates = [];
  const add = (action, name, cell) => {
    const share = shares.get(action) ?? 0;
    const prior = priors.get(action) ?? 0;
    candidates.push({ action, name, cell, visits: null, share, value: null, prior, line: [] });
  };
  board.cells.forEach(({ actions }, cell) => {
    for (const { action, name } of actions) add(action, name, cell);
  });
  for (const { action, name } of elsewhere) add(action, name, null);
  candidates.sort((one, other) => other.share - one.share || other.prior - one.prior);
  return {
    recorded: true,
    value: recorded.value,
    first_value: recorded.first_value,
    simulations: null,
    per_second: null,
    candidates: candidates.slice(0, 32),
  };
}

/** Return the candidate with the highest prior. */
export function favourite({ candidates }) {
  return candidates.reduce((best, one) => (one.prior > best.prior ? one : best));
}
