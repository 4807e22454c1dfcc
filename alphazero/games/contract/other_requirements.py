"""What the contract requires besides the rules: observations, symmetries, texts, copies.

They are independent of each other, but some need `has_a_group_of_symmetries`.
"""

import copy
import itertools
import sys
from collections.abc import Callable, Iterator
from typing import Any

import numpy as np

from alphazero.errors import GameError
from alphazero.games.contract.random_games import RandomGames
from alphazero.games.contract.rule_requirements import Requirement, expect, expect_state
from alphazero.games.contract.watched_rules import Array, Fault
from alphazero.games.game import (
    LAST,
    ONGOING,
    OUTCOME,
    PLY,
    BoardStyle,
    Mask,
    Material,
    State,
    Symmetries,
    seen_by_other,
    to_play,
    value_of,
)
from alphazero.games.pieces import PieceGame


def observes_for_the_player_to_move(games: RandomGames) -> None:
    """Plane 0 has the stones of the player to move, plane 1 the opponent's; all are in [-1, 1].

    Pieces have a plane for each of their kinds, own ones first, turned with the board.
    """
    game = games.game
    for position in games.positions():
        state, player = position.state, to_play(position.state)
        planes = games.observe(state)
        if game.piece_kinds:
            pieces = game.pieces(state) * value_of(1, player)
            if (most := int(np.abs(pieces).max())) > len(game.piece_kinds):
                raise Fault(f"`pieces` has kind {most}; piece_kinds is {game.piece_kinds!r}")
            seen = pieces[::-1] if game.is_turned and player else pieces
            kinds = 1 + np.arange(len(game.piece_kinds))
            expected = seen == np.concatenate([kinds, -kinds])[:, None, None]
            if not np.array_equal(planes[: len(expected)], expected):
                raise Fault(
                    f"the first {len(expected)} planes are not `pieces`, by kind, own ones first, "
                    "as the player to move sees them: for player 1 the rows come in the opposite "
                    "order, the columns do not"
                )
        else:
            others = games.observe(seen_by_other(state))
            if not np.array_equal(planes[:2], others[1::-1], equal_nan=True):
                raise Fault("planes 0 and 1 are not exchanged when the other player is to move")
        if (wrong := ~(np.abs(planes) <= 1)).any():  # also for NaN
            raise Fault(f"`observe` writes {planes[wrong][0]}; expected -1 to 1")


def looks_as_pictures_can_draw_it(games: RandomGames) -> None:
    """Two sides have names; the board has a style and a material that pictures know."""
    game = games.game
    sides = game.side_names
    if not (isinstance(sides, tuple | list) and [*map(type, sides)] == [str, str]):
        raise Fault(f"side_names is {sides!r}; expected two texts")
    for name, kind in ("board_style", BoardStyle), ("material", Material):
        if not isinstance(value := getattr(game, name), kind):
            some = f"{kind.__name__}.{next(iter(kind)).name}"
            raise Fault(f"{name} is {value!r}; expected a {kind.__name__}, such as {some}")


def moves_stones_as_its_actions_say(games: RandomGames) -> None:
    """An action puts a stone of the mover on its `action_cell`, taken from its `action_source`."""
    game = games.game
    for state, _, _, action in games.positions():
        cell, source = (
            method(state, action) if action >= 0 else None
            for method in (game.action_cell, game.action_source)
        )
        if cell is None and source is None:
            continue
        move = f"the move {games.name_of(state, action)}"
        own = value_of(1, to_play(state))
        before, after = (
            game.pieces(position).ravel() * own > 0
            for position in (state, games.rules.play(state, action))
        )
        cells = [cell] if source is None else [source, cell]
        if any(type(each) is not int or not 0 <= each < len(before) for each in cells):
            ends = " to ".join(map(repr, cells))
            raise Fault(
                f"{move} has the cell {ends}; expected an int, 0 to {len(before) - 1}, or None"
            )
        assert cell is not None
        if before[cell] or not after[cell]:
            raise Fault(f"{move} puts no stone of its player on its cell {cell}")
        if source is not None and (not before[source] or after[source]):
            raise Fault(f"{move} takes no stone of its player from its source, cell {source}")


def marks_what_has_won(games: RandomGames) -> None:
    """`winning_cells` are stones of the winner, `attacked_cells` those of the player to move.

    `points` agree with the outcome.
    """
    game = games.game
    for position in games.positions():
        state, outcome = position.state, position.outcome
        own = game.pieces(state).ravel() * value_of(1, to_play(state)) > 0
        for cell in game.attacked_cells(state):
            if type(cell) is not int or not 0 <= cell < len(own) or not own[cell]:
                place = "the cell of a piece of the player to move"
                raise Fault(f"attacked_cells has {cell!r}; expected an int, {place}")
        if outcome == ONGOING:
            continue
        winner = game.pieces(state).ravel() * outcome > 0
        for cell in game.winning_cells(state):
            in_board = type(cell) is int and 0 <= cell < len(winner)
            if outcome == 0 or not in_board or not winner[cell]:
                raise Fault(
                    f"cell {cell!r} is a winning cell; expected an int, a stone of the winner there"
                )
        first, second = points = game.points(state) or (outcome, 0)
        if not {*map(type, points)} <= {int, float}:
            raise Fault(f"points has {first!r} and {second!r}; expected an int or a float each")
        expect("the sign of the difference of the points", np.sign(first - second), outcome)


def has_a_group_of_symmetries(games: RandomGames) -> None:
    """The symmetries are permutations, the identity first, closed under composition."""
    symmetries = games.game.symmetries()
    if not isinstance(symmetries, Symmetries):
        form = type(symmetries).__name__
        raise Fault(f"symmetries() is of type {form}; expected Symmetries(actions, cells)")
    actions, cells = symmetries
    _, height, width = games.game.observation_shape
    for name, images, size in (
        ("actions", actions, games.game.num_actions),
        ("cells", cells, height * width),
    ):
        kind, shape = _kind(images), np.shape(images)
        if kind != np.int64 or shape != (len(cells), size) or not len(cells):
            row = f"[{len(cells) or 1}, {size}]"
            raise Fault(f"the symmetries' {name} are {kind} {list(shape)}; expected int64 {row}")
        expected = list(range(size))
        expect(f"symmetry 0 of the {name}", images[0].tolist(), expected, ", the identity")
        for number, image in enumerate(images):
            reason = ": a symmetry is a permutation"
            expect(f"symmetry {number} of the {name}, sorted,", sorted(image), expected, reason)
    group = {(tuple(a), tuple(c)) for a, c in zip(actions, cells, strict=True)}
    for i, j in itertools.product(range(len(actions)), repeat=2):
        if (tuple(actions[i][actions[j]]), tuple(cells[i][cells[j]])) not in group:
            raise Fault(f"symmetry {j} followed by {i} is not one of the symmetries; expected one")


def _kind(array: Any) -> Any:
    """Return the type of an array's numbers, or the name of the type of anything else."""
    return getattr(array, "dtype", type(array).__name__)


def keeps_its_rules_under_symmetries(games: RandomGames) -> None:
    """Images of moves lead to images of positions, from `initial_image` on."""
    game, rules = games.game, games.rules
    for number, (actions, cells) in enumerate(zip(*game.symmetries(), strict=True)):
        for state, mask, image in _with_images(games, number):
            games.current = state
            compared = [
                ("legal actions", rules.legal(image)[0][actions], mask),
                ("outcome", image[OUTCOME], state[OUTCOME]),
                ("planes", *_cells_written(games, "observe", state, image, cells)),
            ]
            if ONGOING not in (state[OUTCOME], image[OUTCOME]):
                compared += [
                    ("owners", *_cells_written(games, "owners", state, image, cells)),
                    (
                        "margin",
                        rules.read("margin", state).result,
                        rules.read("margin", image).result,
                    ),
                ]
            for what, one, other in compared:
                if not np.array_equal(one, other, equal_nan=what == "planes"):
                    shown = "itself: by `initial_image`, every symmetry keeps the initial position"
                    if state[PLY] > 0 or not np.array_equal(image, state):
                        shown = f"the position\n{game.render(image)}"
                    raise Fault(
                        f"symmetry {number} does not map the {what} of this position to the {what} "
                        f"of its image, {shown}"
                    )


def _with_images(games: RandomGames, symmetry: int) -> Iterator[tuple[State, Mask, State]]:
    """Yield positions of two games, their legal actions, and their images under a symmetry.

    A game ends early before a move that is illegal here, as castling from an `initial_image`.
    """
    rules, images = games.rules, games.game.symmetries().actions[symmetry]
    for record in games.records[:2]:
        state, image = games.game.initial_image(0), games.game.initial_image(symmetry)
        for position in record[: games.effort // 10]:
            mask, _ = rules.legal(state)
            yield state, mask, image
            if position.action < 0 or not mask[position.action]:
                break
            state = rules.play(state, position.action)
            image = rules.play(image, int(images[position.action]))


def _cells_written(
    games: RandomGames, rule: str, state: State, image: State, cells: Array
) -> tuple[Array, Array]:
    """Return what a rule writes for `state`, and for `image` with the cells moved back."""
    one, other = (
        games.rules.read(rule, item).written.reshape(-1, len(cells)) for item in (state, image)
    )
    return one, other[:, cells]


def lays_its_actions_on_cells(games: RandomGames) -> None:
    """The actions of `policy_planes` have the cells of their stones, and symmetries move both.

    A symmetry may exchange planes. With several planes, an action's cell need not be that of its
    stone: it can be the cell that a piece leaves.
    """
    game, planes, index = games.game, games.game.policy_planes, games.game.policy_index
    _, height, width = game.observation_shape
    area = height * width
    places = planes * area if type(planes) is int else -1
    if index is None:
        if not 0 <= places <= game.num_actions:
            most = game.num_actions // area
            reason = "; fewer actions than places need a policy_index" if places > 0 else ""
            raise Fault(f"policy_planes is {planes!r}; expected an int from 0 to {most}{reason}")
        index = np.arange(places)
    elif (kind := _kind(index)) != np.int64 or np.shape(index) != (game.num_actions,):
        form = f"{kind} {list(np.shape(index))}"
        raise Fault(f"policy_index is {form}; expected int64 [{game.num_actions}]")
    elif not {*index.tolist()} <= {*range(places)}:
        last = f"{places - 1}, the last of {planes} policy_planes"
        raise Fault(f"policy_index has {index.max()}; expected 0 to {last}")
    elif (double := np.flatnonzero(np.bincount(index) > 1)).size:
        actions = " and ".join(map(str, np.flatnonzero(index == double[0])))
        raise Fault(f"policy_index has one place for actions {actions}; expected one for each")
    for number, (actions, cells) in enumerate(zip(*game.symmetries(), strict=True)):
        images, expected = actions[: len(index)], cells[index % area]
        if (images >= len(index)).any() or (index[images] % area != expected).any():
            order = "plane by plane, each cell by cell, and then those without a cell"
            raise Fault(
                f"symmetry {number} moves actions and cells apart; expected actions {order}"
            )
    for state, _, _, action in games.positions() if planes == 1 else ():
        cell = game.action_cell(state, action) if action >= 0 else None
        if cell not in (None, action):
            raise Fault(f"action {action} has the cell {cell}; expected {action}, on the one plane")
    if planes > 1:
        _expect_moves_on_their_cells(games, index % area)


def _expect_moves_on_their_cells(games: RandomGames, places: Array) -> None:
    """Raise Fault unless each move of a piece is on a cell that it leaves or reaches, as seen.

    `places` are the cells of actions on their planes.
    """
    game = games.game
    for state, _, _, action in games.positions():
        if not 0 <= action < len(places) or game.action_source(state, action) is None:
            continue
        cells = game.ends(action) if isinstance(game, PieceGame) else game.move_cells(state, action)
        if places[action] not in cells:
            raise Fault(
                f"the move {games.name_of(state, action)} is on cell {places[action]} of its plane;"
                f" expected {cells[0]}, the cell that the piece leaves, as its player sees it"
            )


def reads_its_own_drawings(games: RandomGames) -> None:
    """`parse` reads what `render` draws, except for the last move."""
    game = games.game
    for state, mask, *_ in games.sample():
        drawing = game.render(state)
        read = _read("parse", "its own drawing", game.parse, drawing)
        expect_state(read, "what parse(diagram) returns")
        expect("the length of parse(diagram)", len(read), len(state))
        for what, actual, expected in (
            ("drawing", game.render(read), drawing),
            ("ply", read[PLY], state[PLY]),
            ("outcome", read[OUTCOME], state[OUTCOME]),
            ("legal actions", games.rules.legal(read)[0].tolist(), mask.tolist()),
            ("stones", game.pieces(read).tolist(), game.pieces(state).tolist()),
        ):
            expect(f"after `parse` has read the drawing, the {what}", actual, expected)


def _read(reader: str, what: str, read: Callable[..., Any], *arguments: Any) -> Any:
    try:
        return read(*arguments)
    except GameError as error:
        raise Fault(f"`{reader}` cannot read {what}: {error}") from None


def reads_its_own_action_names(games: RandomGames) -> None:
    """Every legal action has a name of its own, which `parse_action` reads."""
    game = games.game
    for position in games.sample():
        names: dict[str, int] = {}
        for action in np.flatnonzero(position.mask).tolist():
            name = game.action_name(position.state, action)
            if name in names:
                raise Fault(f"actions {names[name]} and {action} are both named {name!r}")
            if name.split() != [name]:
                raise Fault(f"action {action} is named {name!r}; expected a name without spaces")
            names[name] = action
        for name, action in names.items():
            for text in (name, f" {name}\n"):
                read = _read("parse_action", repr(text), game.parse_action, position.state, text)
                if read != action:
                    raise Fault(f"`parse_action` reads {text!r} as {read}; expected {action}")


def varies_only_the_initial_state(games: RandomGames) -> None:
    """A game with another value of a variable option has equal sizes and rules; planes show it."""
    game = games.game
    for number, option in enumerate(game.variable_options):
        values = np.array(game.variable_values)
        step = np.eye(len(values), dtype=np.int64)[number]
        try:
            variant = game.variant((values - step).tolist())
        except GameError:
            variant = game.variant((values + step).tolist())
        names = f"{option} {getattr(game, option)}", f"{option} {getattr(variant, option)}"
        for what in ("observation_shape", "num_actions", "max_moves", "state_size"):
            reason = f" as with {names[0]}: the option is variable"
            expect(f"with {names[1]} {what}", getattr(variant, what), getattr(game, what), reason)
        if variant.rule_functions != game.rule_functions:
            raise Fault(f"with another {option} the game has other rules; it cannot be variable")
        one, other = (item.observe(item.initial_state()) for item in (game, variant))
        if np.array_equal(one, other):
            raise Fault(f"the planes do not show whether the game has {' or '.join(names)}")


def can_be_copied_to_another_process(games: RandomGames) -> None:
    """A copied game is the same game, and another process finds its class."""
    game, kind = games.game, type(games.game)
    twin = copy.deepcopy(game)
    expect("a copy of the game", (twin, hash(twin)), (game, hash(game)))
    assert twin.rules is not None
    if getattr(sys.modules[kind.__module__], kind.__qualname__, None) is not kind:
        place = f"the class {kind.__qualname__} from the module {kind.__module__}"
        raise Fault(f"another process cannot import {place}; expected it at the module's top level")


def forgets_the_last_move_if_it_says_so(games: RandomGames) -> None:
    """Without `last_move_in_state_key` the rest of a game does not depend on the last move."""
    if games.game.last_move_in_state_key:
        return
    for state, mask, _, action in games.positions():
        other = state.copy()
        other[LAST] = -1
        reason = "; else set `last_move_in_state_key = True`"
        legal = games.rules.legal(other)[0].tolist()
        expect("without the last move, the mask of legal actions", legal, mask.tolist(), reason)
        if action >= 0:
            one, two = (games.rules.play(before, action).tolist() for before in (state, other))
            expect(f"without the last move, the position after {action}", two, one, reason)


OTHER_REQUIREMENTS: tuple[Requirement, ...] = (
    forgets_the_last_move_if_it_says_so,
    looks_as_pictures_can_draw_it,
    observes_for_the_player_to_move,
    moves_stones_as_its_actions_say,
    marks_what_has_won,
    keeps_its_rules_under_symmetries,
    lays_its_actions_on_cells,
    reads_its_own_drawings,
    reads_its_own_action_names,
    varies_only_the_initial_state,
    can_be_copied_to_another_process,
)
