"""What the contract requires besides the rules: observations, symmetries, texts, copies.

The requirements are independent of each other.
"""

import copy
import itertools
import sys
from collections.abc import Callable
from typing import Any

import numpy as np

from alphazero.errors import GameError
from alphazero.games.contract.random_games import PlayedPosition, RandomGames
from alphazero.games.contract.rule_requirements import Requirement, expect, expect_state
from alphazero.games.contract.watched_rules import Array, Fault
from alphazero.games.game import HEADER, ONGOING, OUTCOME, PLY, Game, State
from alphazero.games.grid import stones_by_player


def observes_for_the_player_to_move(games: RandomGames) -> None:
    """Plane 0 holds the stones of the player to move, plane 1 the opponent's."""
    for position in games.positions():
        other_side = position.state.copy()
        other_side[PLY] += 1
        first, second, *_ = games.rules.write("observe", position.state)
        other_first, other_second, *_ = games.rules.write("observe", other_side)
        if not (np.array_equal(first, other_second) and np.array_equal(second, other_first)):
            raise Fault(
                "planes 0 and 1 are not exchanged when the other player is to move; expected own "
                "stones on plane 0 and the opponent's on plane 1"
            )


def observes_values_up_to_one(games: RandomGames) -> None:
    """Observations are finite and in [-1, 1], the range that suits the network."""
    for position in games.positions():
        planes = games.rules.write("observe", position.state)
        wrong = ~(np.abs(planes) <= 1)  # also for NaN
        if wrong.any():
            raise Fault(f"`observe` writes {planes[wrong][0]}; expected -1 to 1")


def marks_moves_on_the_cells_of_their_stones(games: RandomGames) -> None:
    """An action with an `action_cell` puts a stone of the mover there."""
    for position in games.positions():
        cell = _cell_of(games.game, position)
        if cell is None:
            continue
        name, (before, after) = games.name_of(position), _stones_of_mover(games, position)
        if not 0 <= cell < len(before):
            raise Fault(f"the cell of the move {name} is {cell}; expected 0 to {len(before) - 1}")
        if before[cell]:
            raise Fault(
                f"the move {name} is legal, but a stone of the player to move is on its cell "
                f"{cell} already; expected another mask or another `action_cell`"
            )
        if after[cell] != 1:
            raise Fault(
                f"after the move {name} no stone of the player who made it is on its cell {cell}; "
                "expected one on plane 1, because the other player is to move"
            )


def moves_stones_of_the_mover(games: RandomGames) -> None:
    """An action with an `action_source` takes the mover's stone from there to its `action_cell`."""
    for position in games.positions():
        source = None
        if position.action >= 0:
            source = games.game.action_source(position.state, position.action)
        if source is None:
            continue
        name, (before, after) = games.name_of(position), _stones_of_mover(games, position)
        if not 0 <= source < len(before):
            raise Fault(
                f"the source of the move {name} is {source}; expected 0 to {len(before) - 1}"
            )
        if _cell_of(games.game, position) is None:
            raise Fault(f"the move {name} has a source, but no `action_cell`; expected both")
        if not before[source] or after[source]:
            raise Fault(
                f"the move {name} takes no stone of the player to move from cell {source}; "
                "expected one there before the move and none after it"
            )


def _cell_of(game: Game, position: PlayedPosition) -> int | None:
    """Return the `action_cell` of the action played; None without one, or at the end."""
    return game.action_cell(position.state, position.action) if position.action >= 0 else None


def _stones_of_mover(games: RandomGames, position: PlayedPosition) -> tuple[Array, Array]:
    """Return the mover's stones before and after the action played, [H * W] each."""
    after = games.rules.play(position.state, position.action)
    before, seen = (games.rules.write("observe", each) for each in (position.state, after))
    return before[0].ravel(), seen[1].ravel()


def names_its_sides(games: RandomGames) -> None:
    """The names of the sides are two different words."""
    names = games.game.side_names
    words = {name for name in names if isinstance(name, str) and name and name.isprintable()}
    if len(names) != 2 or len(words) != 2:
        raise Fault(f"side_names is {names!r}; expected two different names")


def marks_what_has_won(games: RandomGames) -> None:
    """`winning_cells` are stones of the winner, and `points` agree with outcome and margin."""
    game = games.game
    for position in games.positions():
        if position.outcome == ONGOING:
            continue
        winner = stones_by_player(game, position.state)[int(position.outcome < 0)]
        for cell in game.winning_cells(position.state):
            if position.outcome == 0 or not 0 <= cell < len(winner) or not winner[cell]:
                raise Fault(f"cell {cell} is a winning cell; expected a stone of the winner there")
        points = game.points(position.state)
        if points is None:
            continue
        lead = points[0] - points[1]
        margin = game.margin(position.state) if game.has_margin else lead
        if np.sign(lead) != position.outcome or lead != margin:
            raise Fault(
                f"the points are {points[0]:g} and {points[1]:g}, the outcome {position.outcome} "
                f"and the margin {margin:g}; expected them to agree"
            )


def has_a_group_of_symmetries(games: RandomGames) -> None:
    """The symmetries are permutations, the identity first, closed under composition."""
    actions, cells = games.game.symmetries()
    _, height, width = games.game.observation_shape
    for name, images, size in (
        ("actions", actions, games.game.num_actions),
        ("cells", cells, height * width),
    ):
        kind, shape = getattr(images, "dtype", type(images).__name__), np.shape(images)
        if kind != np.int64 or shape[1:] != (size,) or shape[0] == 0:
            raise Fault(
                f"the symmetries' {name} are {kind} {list(shape)}; expected int64 [K, {size}]"
            )
        for number, image in enumerate(images):
            if sorted(image.tolist()) != list(range(size)):
                raise Fault(
                    f"symmetry {number} of the {name} is {image.tolist()}; expected each of 0 to "
                    f"{size - 1} once"
                )
        if images[0].tolist() != list(range(size)):
            raise Fault(f"symmetry 0 of the {name} is {images[0].tolist()}; expected the identity")
    if len(actions) != len(cells):
        raise Fault(
            f"there are {len(actions)} symmetries of the actions and {len(cells)} of the cells; "
            "expected equal numbers"
        )
    group = {(tuple(a), tuple(c)) for a, c in zip(actions, cells, strict=True)}
    for i, j in itertools.product(range(len(actions)), repeat=2):
        if (tuple(actions[i][actions[j]]), tuple(cells[i][cells[j]])) not in group:
            raise Fault(
                f"symmetry {j} followed by {i} is not one of the symmetries; expected a group"
            )


def keeps_its_rules_under_symmetries(games: RandomGames) -> None:
    """Images of moves lead to images of positions."""
    game, rules = games.game, games.rules
    first_moves = list(itertools.chain(*games.records[:2]))[: 4 * games.effort.positions]
    for number, (actions, cells) in enumerate(zip(*game.symmetries(), strict=True)):
        image = game.initial_state()
        for position in first_moves:
            if position.state[PLY] == 0:
                image = game.initial_state()
            games.current = state = position.state
            over = ONGOING not in (position.outcome, image[OUTCOME])
            for what, same in (
                ("legal actions", np.array_equal(rules.legal(image)[0][actions], position.mask)),
                ("outcome", image[OUTCOME] == position.outcome),
                ("planes", _is_image(games, "observe", state, image, cells)),
                (
                    "owners or margin",
                    not over
                    or (
                        _is_image(games, "owners", state, image, cells)
                        and rules.ask("margin", state) == rules.ask("margin", image)
                    ),
                ),
            ):
                if not same:
                    raise Fault(
                        f"symmetry {number} does not map the {what} of this position to the {what} "
                        f"of its image; the image:\n{game.render(image)}"
                    )
            if position.action >= 0:
                image = rules.play(image, int(actions[position.action]))


def _is_image(games: RandomGames, rule: str, state: State, image: State, cells: Array) -> bool:
    """Whether what a rule writes for `image` is that for `state`, with the cells moved."""
    one, other = (games.rules.write(rule, each).reshape(-1, len(cells)) for each in (state, image))
    return np.array_equal(other[:, cells], one, equal_nan=True)


def lays_its_actions_on_cells(games: RandomGames) -> None:
    """The actions of `policy_planes` have the cells of their stones, and symmetries move both.

    A symmetry may exchange planes. With several planes, an action's cell need not be that of its
    stone: it can be the cell that a piece leaves.
    """
    game, planes = games.game, games.game.policy_planes
    _, height, width = game.observation_shape
    area = height * width
    on_cells = planes * area if type(planes) is int else -1
    if not 0 <= on_cells <= game.num_actions:
        raise Fault(
            f"policy_planes is {planes!r}; expected an int from 0 to {game.num_actions // area}, "
            "the number of actions divided by the number of cells"
        )
    for number, (actions, cells) in enumerate(zip(*game.symmetries(), strict=True)):
        for action, image in enumerate(actions.tolist() if planes else ()):
            stays = image >= on_cells
            if action < on_cells:
                stays = image < on_cells and image % area == cells[action % area]
            if not stays:
                raise Fault(
                    f"symmetry {number} moves action {action} to {image}, but not so its cell; "
                    "expected actions plane by plane, in each cell by cell, and then those without "
                    "a cell"
                )
    for position in games.positions() if planes == 1 else ():
        cell = _cell_of(game, position)
        if cell is not None:
            reason = ", the cell of its stone, as policy_planes is 1"
            expect(f"the move {games.name_of(position)}", position.action, cell, reason)


def reads_its_own_drawings(games: RandomGames) -> None:
    """`parse` reads what `render` draws, except for the last move."""
    game = games.game
    for position in games.sample():
        drawing = game.render(position.state)
        read = _read("parse", "its own drawing", game.parse, drawing)
        expect_state(read, "what parse(diagram) returns")
        expect("the length of parse(diagram)", len(read), len(position.state))
        for what, actual, expected in (
            ("drawing", game.render(read), drawing),
            ("ply", int(read[PLY]), int(position.state[PLY])),
            ("outcome", game.outcome(read), position.outcome),
            (
                "legal actions",
                np.flatnonzero(games.rules.legal(read)[0]).tolist(),
                np.flatnonzero(position.mask).tolist(),
            ),
            ("stones", game.observe(read)[:2].tolist(), game.observe(position.state)[:2].tolist()),
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
                raise Fault(
                    f"actions {names[name]} and {action} are both named {name!r}; expected a name "
                    "for each"
                )
            names[name] = action
        for text in itertools.chain(names, (f" {name}\n" for name in names)):
            action = names[text.strip()]
            read = _read("parse_action", repr(text), game.parse_action, position.state, text)
            if read != action:
                raise Fault(
                    f"action {action} is named {text.strip()!r}, and `parse_action` reads {text!r} "
                    f"as {read}; expected {action}"
                )


def stores_its_options_after_the_header(games: RandomGames) -> None:
    """The options follow the header, so that one compilation serves every size."""
    options = games.game.state_options
    for position in games.positions():
        stored = position.state[HEADER : HEADER + len(options)].tolist()
        reason = f", the options {', '.join(options)}"
        expect(f"the start of state[{HEADER}:]", stored, [*options.values()], reason)


def varies_only_the_initial_state(games: RandomGames) -> None:
    """A game with another value of a variable option has equal sizes and rules; planes show it."""
    game = games.game
    for option in game.variable_options:
        if option not in game.options:
            raise Fault(f"variable_options has {option!r}, which is no option of the game")
        variant = _neighbour(game, option)
        for what in ("observation_shape", "num_actions", "max_moves", "state_size"):
            where = f"with {option} {getattr(variant, option)} {what}"
            reason = f" as with {getattr(game, option)}: the option is variable"
            expect(where, getattr(variant, what), getattr(game, what), reason)
        if variant.rule_functions != game.rule_functions:
            raise Fault(f"with another {option} the game has other rules; it cannot be variable")
        one, other = (each.observe(each.initial_state()) for each in (game, variant))
        if np.array_equal(one, other):
            raise Fault(
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


def does_not_change_given_states(games: RandomGames) -> None:
    """Methods that take a state do not change it."""
    game = games.game
    for state, _, _, action in games.sample():
        before, moves = state.copy(), ("play", "action_name", "action_cell") if action >= 0 else ()
        for name in ("observe", "legal_action_mask", "render", *moves):
            getattr(game, name)(state, *([action] if name in moves else []))
            if not np.array_equal(state, before):
                raise Fault(f"`{name}` changes the state; expected the same state")


def can_be_copied_to_another_process(games: RandomGames) -> None:
    """A copied game is the same game, and another process finds its class."""
    game, kind = games.game, type(games.game)
    twin = copy.deepcopy(game)
    expect("a copy of the game", (twin, hash(twin)), (game, hash(game)))
    assert twin.rules is not None
    if getattr(sys.modules[kind.__module__], kind.__qualname__, None) is not kind:
        raise Fault(
            f"another process cannot import the class {kind.__qualname__} from the module "
            f"{kind.__module__}; expected a class at the top level of a module"
        )


OTHER_REQUIREMENTS: tuple[Requirement, ...] = (
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
    stores_its_options_after_the_header,
    varies_only_the_initial_state,
    does_not_change_given_states,
    can_be_copied_to_another_process,
)
