"""Promises of every game besides its rules: observations, symmetries, texts, copies.

They are independent of each other. `rules.py` has the promises of the rules.
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
from alphazero.games.contract.trial import PlayedPosition, Trial
from alphazero.games.game import HEADER, ONGOING, OUTCOME, PLY, Game
from alphazero.games.grid import stones_by_player


def observes_for_the_player_to_move(trial: Trial) -> None:
    """Plane 0 holds the stones of the player to move, plane 1 the opponent's."""
    for position in trial.positions():
        other_side = position.state.copy()
        other_side[PLY] += 1
        planes, exchanged = trial.rules.observe(position.state), trial.rules.observe(other_side)
        if not (
            np.array_equal(planes[0], exchanged[1]) and np.array_equal(planes[1], exchanged[0])
        ):
            raise Breach(
                "planes 0 and 1 are not exchanged when the other player is to move; expected own "
                "stones on plane 0 and the opponent's on plane 1"
            )


def observes_values_up_to_one(trial: Trial) -> None:
    """Observations are finite and in [-1, 1], the range that suits the network."""
    for position in trial.positions():
        planes = trial.rules.observe(position.state)
        wrong = ~(np.abs(planes) <= 1)  # also for NaN
        if wrong.any():
            raise Breach(f"`observe` writes {planes[wrong][0]}; expected -1 to 1")


def marks_moves_on_the_cells_of_their_stones(trial: Trial) -> None:
    """An action with an `action_cell` puts a stone of the mover there."""
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
                f"the move {name} is legal, but a stone of the player to move is on its cell "
                f"{cell} already; expected another mask or another `action_cell`"
            )
        if after[1].ravel()[cell] != 1:
            raise Breach(
                f"after the move {name} no stone of the player who made it is on its cell "
                f"{cell}; expected one on plane 1, because the other player is to move"
            )


def moves_stones_of_the_mover(trial: Trial) -> None:
    """An action with an `action_source` takes the mover's stone from there to its `action_cell`."""
    game = trial.game
    for position in trial.positions():
        state, action = position.state, position.action
        source = game.action_source(state, action) if action >= 0 else None
        if source is None:
            continue
        name, cells = trial.name_of(position), trial.rules.observe(state)[0].size
        if not 0 <= source < cells:
            raise Breach(f"the source of the move {name} is {source}; expected 0 to {cells - 1}")
        if game.action_cell(state, action) is None:
            raise Breach(f"the move {name} has a source, but no `action_cell`; expected both")
        after = trial.rules.observe(trial.rules.play(state, action))
        if not game.observe(state)[0].ravel()[source] or after[1].ravel()[source]:
            raise Breach(
                f"the move {name} takes no stone of the player to move from cell {source}; "
                "expected one there before the move and none after it"
            )


def names_its_sides(trial: Trial) -> None:
    """The names of the sides are two different words."""
    names = trial.game.side_names
    words = [name for name in names if isinstance(name, str) and name and name.isprintable()]
    if len(names) != 2 or len({*words}) != 2:
        raise Breach(f"side_names is {names!r}; expected two different names")


def marks_what_has_won(trial: Trial) -> None:
    """`winning_cells` are stones of the winner, and `points` agree with outcome and margin."""
    game = trial.game
    for position in trial.positions():
        if position.outcome == ONGOING:
            continue
        winner = stones_by_player(game, position.state)[int(position.outcome < 0)]
        for cell in game.winning_cells(position.state):
            if position.outcome == 0 or not 0 <= cell < len(winner) or not winner[cell]:
                raise Breach(f"cell {cell} is a winning cell; expected a stone of the winner there")
        points = game.points(position.state)
        if points is None:
            continue
        lead = points[0] - points[1]
        margin = game.margin(position.state) if game.has_margin else lead
        if np.sign(lead) != position.outcome or lead != margin:
            raise Breach(
                f"the points are {points[0]:g} and {points[1]:g}, the outcome {position.outcome} "
                f"and the margin {margin:g}; expected them to agree"
            )


def has_a_group_of_symmetries(trial: Trial) -> None:
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
            "expected equal numbers"
        )
    group = {(tuple(a), tuple(c)) for a, c in zip(actions, cells, strict=True)}
    for i, j in itertools.product(range(len(actions)), repeat=2):
        if (tuple(actions[i][actions[j]]), tuple(cells[i][cells[j]])) not in group:
            raise Breach(
                f"symmetry {j} followed by {i} is not one of the symmetries; expected a group"
            )


def keeps_its_rules_under_symmetries(trial: Trial) -> None:
    """Images of moves lead to images of positions."""
    game, channels = trial.game, trial.game.observation_shape[0]
    for number, (actions, cells) in enumerate(zip(*game.symmetries(), strict=True)):
        image = game.initial_state()
        for position in _first_moves(trial):
            if position.state[PLY] == 0:
                image = game.initial_state()
            trial.current = position.state
            mask, _ = trial.rules.legal(image)
            planes = trial.rules.observe(image).reshape(channels, -1)[:, cells]
            same_end = position.outcome == ONGOING or image[OUTCOME] == ONGOING
            if not same_end:
                owners, margin = trial.read_end(position)
                owners_there, margin_there = trial.read_end(position._replace(state=image))
                same_end = margin == margin_there and np.array_equal(owners_there[cells], owners)
            seen = trial.rules.observe(position.state).reshape(channels, -1)
            for what, same in (
                ("legal actions", np.array_equal(mask[actions], position.mask)),
                ("outcome", image[OUTCOME] == position.outcome),
                ("planes", np.array_equal(planes, seen, equal_nan=True)),
                ("owners or margin", same_end),
            ):
                if not same:
                    raise Breach(
                        f"symmetry {number} does not map the {what} of this position to the {what} "
                        f"of its image; the image:\n{game.render(image)}"
                    )
            if position.action >= 0:
                image = trial.rules.play(image, int(actions[position.action]))


def lays_its_actions_on_cells(trial: Trial) -> None:
    """The actions of `policy_planes` have the cells of their stones, and symmetries move both.

    A symmetry may exchange planes. With several planes, an action's cell need not be that of its
    stone: it can be the cell that a piece leaves.
    """
    game = trial.game
    planes = game.policy_planes
    _, height, width = game.observation_shape
    area = height * width
    on_cells = planes * area if type(planes) is int else -1
    if not 0 <= on_cells <= game.num_actions:
        raise Breach(
            f"policy_planes is {planes!r}; expected an int from 0 to {game.num_actions // area}, "
            "the number of actions divided by the number of cells"
        )
    for number, (actions, cells) in enumerate(zip(*game.symmetries(), strict=True)):
        for action in range(game.num_actions if planes else 0):
            image = int(actions[action])
            stays = image >= on_cells
            if action < on_cells:
                stays = image < on_cells and image % area == cells[action % area]
            if not stays:
                raise Breach(
                    f"symmetry {number} moves action {action} to {image}, but not so its cell; "
                    "expected actions plane by plane, in each cell by cell, and then those without "
                    "a cell"
                )
    for position in trial.positions() if planes == 1 else ():
        state, action = position.state, position.action
        cell = game.action_cell(state, action) if action >= 0 else None
        if cell is not None and action != cell:
            raise Breach(
                f"the move {trial.name_of(position)} is action {action} and puts its stone on cell "
                f"{cell}; expected the cell's number, as policy_planes is 1"
            )


def _first_moves(trial: Trial) -> Iterator[PlayedPosition]:
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
        for what, found, expected in (
            ("drawing", game.render(read), drawing),
            ("ply", int(read[PLY]), int(position.state[PLY])),
            ("outcome", game.outcome(read), position.outcome),
            (
                "legal actions",
                np.flatnonzero(trial.rules.legal(read)[0]).tolist(),
                np.flatnonzero(position.mask).tolist(),
            ),
        ):
            if found != expected:
                raise Breach(
                    f"read back by `parse` from its drawing, the position has another {what}: "
                    f"{found}; expected {expected}"
                )
        if not np.array_equal(game.observe(read)[:2], game.observe(position.state)[:2]):
            raise Breach("read back by `parse` from its drawing, the position has other stones")


def _read(reader: str, given: str, read: Callable[..., Any], *arguments: Any) -> Any:
    try:
        return read(*arguments)
    except GameError as error:
        raise Breach(f"`{reader}` cannot read {given}: {error}") from None


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
            raise Breach("replayed from the names of its moves, the game ends in another position")


def stores_its_options_after_the_header(trial: Trial) -> None:
    """The options follow the header, so that one compilation serves every size."""
    options = trial.game.state_options
    for position in trial.positions():
        carried = position.state[HEADER : HEADER + len(options)].tolist()
        if carried != list(options.values()):
            raise Breach(
                f"state[{HEADER}:] starts with {carried}; expected the options "
                f"{', '.join(options)}: {list(options.values())}"
            )


def varies_only_the_initial_state(trial: Trial) -> None:
    """A game with another value of a variable option has equal sizes and rules; planes show it."""
    game = trial.game
    for option in game.variable_options:
        if option not in game.options:
            raise Breach(f"variable_options has {option!r}, which is no option of the game")
        variant = _neighbour(game, option)
        for what in ("observation_shape", "num_actions", "max_moves", "state_size"):
            found, expected = getattr(variant, what), getattr(game, what)
            if found != expected:
                raise Breach(
                    f"with {option} {getattr(variant, option)} the game has {what} {found}; "
                    f"expected {expected} as with {getattr(game, option)}: the option is variable"
                )
        if variant.rule_functions != game.rule_functions:
            raise Breach(f"with another {option} the game has other rules; it cannot be variable")
        if np.array_equal(
            game.observe(game.initial_state()), variant.observe(variant.initial_state())
        ):
            raise Breach(
                f"the planes do not show the variable option {option}: they are equal with "
                f"{getattr(game, option)} and {getattr(variant, option)}"
            )


def _neighbour(game: Game, option: str) -> Game:
    """Return the game with the next lower value of a variable option, else with the next higher."""
    values = dict(zip(game.variable_options, game.variable_values, strict=True))
    try:
        return game.variant(tuple((values | {option: values[option] - 1}).values()))
    except GameError:
        return game.variant(tuple((values | {option: values[option] + 1}).values()))


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
            raise Breach(f"play(state, {action}) does not refuse the illegal action")


def does_not_change_given_states(trial: Trial) -> None:
    """Methods that take a state do not change it."""
    game = trial.game
    for position in trial.sample():
        state = position.state
        before = state.copy()
        for name, ask in (
            ("observe", game.observe),
            ("legal_action_mask", game.legal_action_mask),
            ("render", game.render),
        ):
            ask(state)
            if not np.array_equal(state, before):
                raise Breach(f"`{name}` changes the state; expected the same state")
        if position.action >= 0:
            game.play(state, position.action)
            game.action_name(state, position.action)
            game.action_cell(state, position.action)
            if not np.array_equal(state, before):
                raise Breach("`play`, `action_name` or `action_cell` changes the given state")


def can_be_copied_to_another_process(trial: Trial) -> None:
    """A copied game is the same game, and another process finds its class."""
    game = trial.game
    kind = type(game)
    twin = copy.deepcopy(game)
    if twin != game or hash(twin) != hash(game) or twin.rules is None:
        raise Breach(f"a copy of the game is {twin}; expected {game}")
    if getattr(sys.modules[kind.__module__], kind.__qualname__, None) is not kind:
        raise Breach(
            f"another process cannot import the class {kind.__qualname__} from the module "
            f"{kind.__module__}; expected a class at the top level of a module"
        )


REST: tuple[Promise, ...] = (
    observes_for_the_player_to_move,
    observes_values_up_to_one,
    marks_moves_on_the_cells_of_their_stones,
    moves_stones_of_the_mover,
    names_its_sides,
    marks_what_has_won,
    has_a_group_of_symmetries,
    keeps_its_rules_under_symmetries,
    lays_its_actions_on_cells,
    reads_its_own_drawings,
    reads_its_own_action_names,
    replays_a_game_from_its_move_names,
    stores_its_options_after_the_header,
    varies_only_the_initial_state,
    refuses_illegal_actions,
    does_not_change_given_states,
    can_be_copied_to_another_process,
)
