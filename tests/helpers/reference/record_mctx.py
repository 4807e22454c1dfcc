"""Record the results of DeepMind's mctx for `test_gumbel.py`: with jax and mctx installed, run

    python tests/helpers/reference/record_mctx.py > tests/data/mctx.json

The tree is that of a Connect Four board too high and too narrow for anything to end, with
logits and values drawn from a hash of what the player to move sees. mctx's own value transform
does not rescale, so its sigma is the paper's, for values in [-1, 1].
"""

import functools
import json
from typing import Any

import jax
import jax.numpy as jnp
import mctx
import numpy as np

jax.config.update("jax_enable_x64", True)

ROWS, COLUMNS = 20, 4


def evaluate(cells: Any, player: Any, keys: Any) -> tuple[Any, Any]:
    """Return logits [A] and the value: `HashedEvaluator` of `searches.py` in jax."""
    own, other = cells == player + 1, cells == 2 - player
    colour = jnp.full(cells.shape, 1 - player)
    seen = jnp.concatenate([own, other, colour]).astype(jnp.uint64)
    codes = (seen[:, None] * keys).sum(axis=0)
    for _ in range(2):
        codes = (codes ^ (codes >> jnp.uint64(29))) * jnp.uint64(0xBF58476D1CE4E5B9)
    numbers = (codes >> jnp.uint64(40)).astype(jnp.float64) / 2**23 - 1
    return 2 * numbers[:-1], numbers[-1]


def drop(cells: Any, player: Any, action: Any) -> Any:
    """Drop a stone; row 0 is the top."""
    column = cells.reshape(ROWS, COLUMNS)[:, action]
    row = ROWS - 1 - (column != 0).sum()
    return cells.at[row * COLUMNS + action].set(player + 1)


def search(seed: int, simulations: int, scale: float, considered: int) -> dict[str, Any]:
    """Search the first position; return the Gumbel draws and the result."""
    shape = (3 * ROWS * COLUMNS, COLUMNS + 1)
    keys = jnp.array(np.random.default_rng(seed).integers(1, 2**63, shape, dtype=np.uint64))

    def step(_: Any, __: Any, action: Any, state: Any) -> Any:
        def one(action: Any, cells: Any, player: Any) -> Any:
            cells = drop(cells, player, action)
            logits, value = evaluate(cells, 1 - player, keys)
            return logits, value, cells, 1 - player

        logits, value, cells, player = jax.vmap(one)(action, *state)
        nothing = jnp.zeros_like(value)
        output = mctx.RecurrentFnOutput(
            reward=nothing, discount=nothing - 1, prior_logits=logits, value=value
        )
        return output, (cells, player)

    cells, player = jnp.zeros((1, ROWS * COLUMNS), jnp.int64), jnp.zeros(1, jnp.int64)
    logits, value = evaluate(cells[0], player[0], keys)
    key = jax.random.PRNGKey(seed)
    output = mctx.gumbel_muzero_policy(
        params=(),
        rng_key=key,
        root=mctx.RootFnOutput(
            prior_logits=logits[None], value=value[None], embedding=(cells, player)
        ),
        recurrent_fn=step,
        num_simulations=simulations,
        max_num_considered_actions=considered,
        qtransform=functools.partial(
            mctx.qtransform_completed_by_mix_value,
            value_scale=scale / 2,
            maxvisit_init=50.0,
            rescale_values=False,
        ),
        gumbel_value_scale=1.0,
    )
    gumbel = jax.random.gumbel(jax.random.split(key)[1], (1, COLUMNS), dtype=logits.dtype)
    tree = output.search_tree
    assert np.allclose(tree.extra_data.root_gumbel, gumbel)
    return {
        "seed": seed,
        "simulations": simulations,
        "scale": scale,
        "considered": considered,
        "gumbel": np.asarray(gumbel[0]).tolist(),
        "visits": np.asarray(tree.children_visits[0, 0]).tolist(),
        "action": int(output.action[0]),
        "weights": np.asarray(output.action_weights[0]).tolist(),
    }


def main() -> None:
    """Print the record of every case."""
    settings = [(1, 1.0, 4), (7, 1.0, 4), (16, 1.0, 4), (32, 0.1, 4), (50, 0.02, 4)]
    settings += [(50, 1.0, 2), (64, 0.05, 3), (100, 0.1, 4), (150, 0.02, 4), (33, 0.01, 16)]
    print(json.dumps([search(seed, *each) for seed, each in enumerate(settings)], indent=1))


if __name__ == "__main__":
    main()
