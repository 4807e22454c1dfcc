"""The promises of every game beside its rules: observations, symmetries, texts, copies.

These promises do not depend on each other. `rules.py` holds the promises of the rules.
"""

import copy
import itertools
import sys
from collections.abc import Callable, Iterator
from typing import Any

import numpy as np

from alphazero.errors import GameError
from alphazero.games.contract.guarded import Breach
from alphazero.games.contract.rules import Promise, expect_state
from alphazero.games.contract.trial import Position, Trial
from alphazero.games.game import (
    HEADER,
    PLY,
    State,
)


def observes_from_the_movers_side(trial: Trial) -> None:
    """Plane 0 holds the stones of the player to move, plane 1 the opponent's."""
    for position in trial.positions():
        other_side = position.state.copy()
        other_side[PLY] += 1
        planes, exchanged = trial.rules.observe(position.state), trial.rules.observe(other_side)
        if not (
            np.array_equal(planes[0], exchanged[1]) and np.array_equal(planes[1], exchanged[0])
        ):
            raise Breach(
                "planes 0 and 1 do not change places when the other player is to move; expected "
                "own stones on plane 0 and the opponent's on plane 1"
            )


def observes_numbers_up_to_one(trial: Trial) -> None:
    """Observations are finite and in [-1, 1], the range that the network is made for."""
    for position in trial.positions():
        planes = trial.rules.observe(position.state)
        if not np.isfinite(planes).all() or np.abs(planes).max() > 1:
            raise Breach(f"`observe` writes {planes.flat[_worst(planes)]}; expected -1 to 1")


def _worst(planes: Any) -> int:
    return int(np.argmax(np.nan_to_num(np.abs(planes), nan=np.inf)))


def marks_moves_where_their_stones_come_to_lie(trial: Trial) -> None:
    """A move with an `action_cell` puts a stone of the mover there."""
    game = trial.game
    for position in trial.positions():
        state, action = position.state, position.action
        cell = game.action_cell(state, action) if action >= 0 else None
        if cell is None:
            continue
        name = trial.name_of(position)
        before, after = game.observe(state), trial.rules.observe(trial.rules.play(state, action))
        if not 0 <= cell < before[0].size:
            raise Breach(
                f"the cell of the move {name} is {cell}; expected 0 to {before[0].size - 1}"
            )
        if before[0].ravel()[cell]:
            raise Breach(
                f"the move {name} is legal, though a stone of the player to move lies on its cell "
                f"{cell} already; expected another mask, or another `action_cell`"
            )
        if after[1].ravel()[cell] != 1:
            raise Breach(
                f"after the move {name} no stone of the player who made it lies on its cell "
                f"{cell}; expected one on plane 1, now that the other player is to move"
            )


def has_symmetries_that_are_a_group(trial: Trial) -> None:
    """The symmetries are permutations, the identity first, closed under composition."""
    actions, cells = trial.game.symmetries()
    _, height, width = trial.game.observation_shape
    for name, images, size in (
        ("actions", actions, trial.game.num_actions),
        ("cells", cells, height * width),
    ):
        kind, shape = getattr(images, "dtype", type(images).__name__), np.shape(images)
        if kind != np.int64 or shape[1:] != (size,) or shape[0] == 0:
            raise Breach(
                f"the symmetries' {name} are {kind} {list(shape)}; expected int64 [K, {size}]"
            )
        for number, image in enumerate(images):
            if sorted(image.tolist()) != list(range(size)):
                raise Breach(
                    f"symmetry {number} of the {name} is {image.tolist()}; expected each of 0 to "
                    f"{size - 1} once"
                )
        if images[0].tolist() != list(range(size)):
            raise Breach(f"symmetry 0 of the {name} is {images[0].tolist()}; expected the identity")
    if len(actions) != len(cells):
        raise Breach(
            f"there are {len(actions)} symmetries of the actions and {len(cells)} of the cells; "
            "expected as many"
        )
    group = {(tuple(a), tuple(c)) for a, c in zip(actions, cells, strict=True)}
    for i, j in itertools.product(range(len(actions)), repeat=2):
        if (tuple(actions[i][actions[j]]), tuple(cells[i][cells[j]])) not in group:
            raise Breach(
                f"symmetry {j} followed by {i} is none of the symmetries; expected one of them"
            )


def moves_board_and_play_together_under_symmetries(trial: Trial) -> None:
    """The images of a game's moves lead to the images of its positions."""
    game, channels = trial.game, trial.game.observation_shape[0]
    for number, (actions, cells) in enumerate(zip(*game.symmetries(), strict=True)):
        image = game.initial_state()
        for position in _first_moves(trial):
            if position.state[PLY] == 0:
                image = game.initial_state()
            trial.current = position.state
            mask, _ = trial.rules.legal(image)
            planes = trial.rules.observe(image).reshape(channels, -1)[:, cells]
            seen = trial.rules.observe(position.state).reshape(channels, -1)
            for what, same in (
                ("legal actions", np.array_equal(mask[actions], position.mask)),
                ("outcome", trial.rules.outcome(image) == position.outcome),
                ("planes", np.array_equal(planes, seen, equal_nan=True)),
            ):
                if not same:
                    raise Breach(
                        f"under symmetry {number} the {what} of this position do not become those "
                        f"of its image; expected that they do; the image:\n{game.render(image)}"
                    )
            if position.action >= 0:
                image = trial.rules.play(image, int(actions[position.action]))


def _first_moves(trial: Trial) -> Iterator[Position]:
    """Yield positions of the first two games in order, as many as the effort allows."""
    moves = itertools.chain.from_iterable(trial.records[:2])
    return itertools.islice(moves, 4 * trial.effort.positions)


def reads_its_own_drawings(trial: Trial) -> None:
    """`parse` reads what `render` draws, except for the last move."""
    game = trial.game
    for position in trial.sample():
        drawing = game.render(position.state)
        read = _read("parse", "its own drawing", game.parse, drawing)
        expect_state(read, "what parse(diagram) returns")
        if len(read) != len(position.state):
            raise Breach(f"parse(diagram) has {len(read)} entries; expected {len(position.state)}")
        for what, told, expected in (
            ("drawing", game.render(read), drawing),
            ("ply", int(read[PLY]), int(position.state[PLY])),
            ("outcome", game.outcome(read), position.outcome),
            ("legal actions", _legal(trial, read), np.flatnonzero(position.mask).tolist()),
        ):
            if told != expected:
                raise Breach(
                    f"read back by `parse` from its drawing, the position has another {what}: "
                    f"{told}; expected {expected}"
                )
        if not np.array_equal(game.observe(read)[:2], game.observe(position.state)[:2]):
            raise Breach("read back by `parse` from its drawing, the position has other stones")


def _legal(trial: Trial, state: State) -> list[int]:
    legal: list[int] = np.flatnonzero(trial.rules.legal(state)[0]).tolist()
    return legal


def _read(reader: str, given: str, read: Callable[..., Any], *arguments: Any) -> Any:
    try:
        return read(*arguments)
    except GameError as error:
        raise Breach(f"`{reader}` does not read {given} ({error}); expected that it does") from None


def reads_its_own_action_names(trial: Trial) -> None:
    """Every legal action has a name of its own, which `parse_action` reads."""
    game = trial.game
    for state, mask, *_ in trial.sample():
        names: dict[str, int] = {}
        for action in np.flatnonzero(mask).tolist():
            name = game.action_name(state, action)
            if name in names:
                raise Breach(
                    f"actions {names[name]} and {action} are both named {name!r}; expected a name "
                    "for each"
                )
            names[name] = action
        for name, action in names.items():
            for text in (name, f" {name}\n"):
                read = _read("parse_action", repr(text), game.parse_action, state, text)
                if read != action:
                    raise Breach(
                        f"action {action} is named {name!r}, and `parse_action` reads {text!r} as "
                        f"{read}; expected {action}"
                    )


def replays_a_game_from_its_move_names(trial: Trial) -> None:
    """The names of the moves suffice to replay a game."""
    game = trial.game
    for record in trial.records:
        names = [game.action_name(position.state, position.action) for position in record[:-1]]
        trial.current = record[-1].state
        if not np.array_equal(game.from_moves(names), record[-1].state):
            raise Breach("played again by the names of its moves the game ends elsewhere")


def carries_its_parameters_in_the_header(trial: Trial) -> None:
    """The options follow the header, so that one compilation serves every size."""
    options = trial.game.options
    for position in trial.positions():
        carried = position.state[HEADER : HEADER + len(options)].tolist()
        if carried != list(options.values()):
            raise Breach(
                f"state[{HEADER}:] begins with {carried}; expected the options "
                f"{', '.join(options)}: {list(options.values())}"
            )


def refuses_illegal_actions(trial: Trial) -> None:
    """`Game.play` refuses an illegal action and names it."""
    game = trial.game
    for state, mask, *_ in trial.sample():
        illegal = np.flatnonzero(~mask).tolist()
        for action in [-1, game.num_actions, 10**9, *illegal[:5]]:
            try:
                game.play(state, action)
            except GameError as error:
                if str(error) == f"action {action} is not legal here":
                    continue
            raise Breach(f"play(state, {action}) is not refused as an action that is not legal")


def leaves_the_position_it_played_from(trial: Trial) -> None:
    """Methods that take a state do not change it."""
    game = trial.game
    for position in trial.sample():
        state = position.state
        before = state.copy()
        for name, ask in (
            ("observe", game.observe),
            ("outcome", game.outcome),
            ("legal_action_mask", game.legal_action_mask),
            ("render", game.render),
        ):
            ask(state)
            if not np.array_equal(state, before):
                raise Breach(f"`{name}` changes the state; expected that it is left alone")
        if position.action >= 0:
            game.play(state, position.action)
            game.action_name(state, position.action)
            game.action_cell(state, position.action)
            if not np.array_equal(state, before):
                raise Breach("`play` or a move's name changes the state that it is asked of")


def travels_to_another_process(trial: Trial) -> None:
    """A copied game is the same game, and another process finds its class."""
    game = trial.game
    kind = type(game)
    twin = copy.deepcopy(game)
    if twin != game or hash(twin) != hash(game) or twin.rules is None:
        raise Breach(f"taken apart and put together, the game is {twin}; expected {game}")
    if getattr(sys.modules[kind.__module__], kind.__qualname__, None) is not kind:
        raise Breach(
            f"another process does not find the class {kind.__qualname__} in the module "
            f"{kind.__module__}; expected a class at the top level of a module"
        )


REST: tuple[Promise, ...] = (
    observes_from_the_movers_side,
    observes_numbers_up_to_one,
    marks_moves_where_their_stones_come_to_lie,
    has_symmetries_that_are_a_group,
    moves_board_and_play_together_under_symmetries,
    reads_its_own_drawings,
    reads_its_own_action_names,
    replays_a_game_from_its_move_names,
    carries_its_parameters_in_the_header,
    refuses_illegal_actions,
    leaves_the_position_it_played_from,
    travels_to_another_process,
)
