"""Games broken on purpose, one bug each on top of tic-tac-toe: the check names exactly that bug."""

import importlib
import sys
from dataclasses import dataclass
from typing import Any

import numpy as np
import pytest

import alphazero
from alphazero.cli import main as cli
from alphazero.errors import GameError
from alphazero.games import make_game, register
from alphazero.games.compiled_rules import HEURISTIC_SCALE, RuleFunctions, Signature
from alphazero.games.contract import check
from alphazero.games.contract.check import check_game, refuse_unsound
from alphazero.games.contract.other_requirements import OTHER_REQUIREMENTS
from alphazero.games.contract.random_games import FULL, SHORT
from alphazero.games.contract.rule_requirements import RULE_REQUIREMENTS
from alphazero.games.game import (
    LAST,
    ONGOING,
    OUTCOME,
    PLY,
    Game,
    Mask,
    Owners,
    Planes,
    State,
    Symmetries,
)
from alphazero.games.go.game import Go
from alphazero.games.line_games import CELLS, COLUMNS, open_lines, place_stone
from alphazero.games.mnk import Mnk
from alphazero.utils.jit import kernel

LEGAL, PLAY, OBSERVE, *_ = Mnk.rule_functions
FIRST_STATE = Mnk().initial_state()


@dataclass(frozen=True)
class Sound(Mnk):
    """Tic-tac-toe without optional rules, so that a bug in its rules is seen by them alone."""

    rule_functions = RuleFunctions(LEGAL, PLAY, OBSERVE)


class Estimating(Sound):
    rule_functions = Sound.rule_functions._replace(heuristic=open_lines)


BROKEN: list[Any] = []
"""A requirement, a game that violates it, words of the message, and what else it violates."""


def with_rules(base: type[Game] = Sound, **rules: Any) -> Game:
    """Return tic-tac-toe with other rules."""
    return with_attributes(base, rule_functions=base.rule_functions._replace(**rules))


def with_attributes(base: type[Game] = Sound, **attributes: Any) -> Game:
    """Return tic-tac-toe with something else about it."""
    return named(type("Broken", (base,), attributes))


def named(kind: type[Game], **options: int) -> Game:
    """Return a game of a class that can be found again by its name, as pickle wants it."""
    kind.__module__ = __name__
    kind.__qualname__ = kind.__name__ = f"Broken{len(vars(sys.modules[__name__]))}"
    setattr(sys.modules[__name__], kind.__name__, kind)
    return kind(**options)


def faulty(rule: str, *row: str, base: type[Game] = Sound) -> Any:
    """Compile a function as a `rule` of tic-tac-toe, which is then a game of `BROKEN`."""

    def add(function: Any) -> Any:
        compiled = kernel(getattr(Signature, rule))(function)
        BROKEN.append((row[0], with_rules(base, **{rule: compiled}), *row[1:]))
        return compiled

    return add


@faulty("play", "keeps_its_header", "is 0; expected 1")
def count_no_move(state: State, action: int) -> None:
    place_stone(state, action, action)
    state[PLY] -= 1


@faulty("play", "keeps_its_header", "is -1; expected")
def forget_the_action(state: State, action: int) -> None:
    place_stone(state, action, action)
    state[LAST] = -1


@faulty("play", "gives_the_outcome_for_player_0", "player 0 wins all ")
def give_the_movers_outcome(state: State, action: int) -> None:
    place_stone(state, action, action)
    if state[OUTCOME] == -1:
        state[OUTCOME] = 1


@faulty("play", "gives_the_outcome_for_player_0", "player 1 wins all ")
def give_the_waiting_players_outcome(state: State, action: int) -> None:
    place_stone(state, action, action)
    if state[OUTCOME] == 1:
        state[OUTCOME] = -1


@faulty("play", "gives_the_outcome_for_player_0", "has the wrong sign", base=Estimating)
def give_the_opposite_outcome(state: State, action: int) -> None:
    place_stone(state, action, action)
    if state[OUTCOME] != ONGOING:
        state[OUTCOME] = -state[OUTCOME]


@kernel(Signature.play)
def divide_by_zero(state: State, action: int) -> None:
    place_stone(state, action, action)
    state[LAST] += 1 // (len(state) - len(state))


@kernel(Signature.play)
def divide_by_zero_and_write_behind(state: State, action: int) -> None:
    place_stone(state, action, action)
    state[len(state) + 1 // (len(state) - len(state))] = 0


@faulty("play", "keeps_its_header", "the outcome is 5; expected one of 1, 0, -1, 2")
def give_another_outcome(state: State, action: int) -> None:
    place_stone(state, action, action)
    if state[OUTCOME] == 0:
        state[OUTCOME] = 5


@faulty("play", "has_legal_moves_until_the_end", "the game is not over and no action is legal")
def never_end_in_a_draw(state: State, action: int) -> None:
    place_stone(state, action, action)
    if state[OUTCOME] == 0:
        state[OUTCOME] = ONGOING


@faulty("play", "stays_within_its_arrays", "test_check.py: state[CELLS + action")
def mark_the_cell_below(state: State, action: int) -> None:
    place_stone(state, action, action)
    state[CELLS + action + state[COLUMNS]] += 0


@faulty("play", "stays_within_its_arrays", "index 100000000000 is out of bounds")
def write_far_away(state: State, action: int) -> None:
    place_stone(state, action, action)
    state[10**11] = 1


@faulty(
    "legal",
    "moves_stones_as_its_actions_say",
    "puts no stone of its player on its cell ",
    "reads_its_own_drawings",
)
def allow_taken_cells(state: State, mask: Mask) -> int:
    mask[:] = state[OUTCOME] == ONGOING
    return len(mask) if state[OUTCOME] == ONGOING else 0


@kernel(Signature.legal)
def count_cells_from_the_end(state: State, mask: Mask) -> int:
    count = LEGAL(state, mask)
    mask[:] = mask[::-1].copy()
    return count


@kernel(Signature.play)
def place_from_the_end(state: State, action: int) -> None:
    place_stone(state, len(state) - CELLS - 1 - action, action)


@kernel(Signature.observe)
def show_the_last_move_from_the_end(state: State, planes: Planes) -> None:
    OBSERVE(state, planes)
    planes[2] = planes[2, ::-1, ::-1].copy()


@faulty("legal", "has_legal_moves_until_the_end", "the answer of `legal` is 10; expected 9")
def miscount_the_mask(state: State, mask: Mask) -> int:
    return LEGAL(state, mask) + 1


@faulty("legal", "writes_every_entry", "`legal` does not write mask[")
def mark_free_cells_only(state: State, mask: Mask) -> int:
    count = 0
    for cell in range(len(mask)):
        if state[OUTCOME] == ONGOING and state[CELLS + cell] == 0:
            mask[cell] = True
            count += 1
    return count


@faulty("legal", "has_legal_moves_until_the_end", "the game is over and")
def allow_moves_after_the_end(state: State, mask: Mask) -> int:
    count = 0
    for cell in range(len(mask)):
        mask[cell] = state[CELLS + cell] == 0
        count += mask[cell]
    return count


@faulty("legal", "has_legal_moves_until_the_end", "the game is not over and no action is legal")
def allow_nothing_in_the_middle(state: State, mask: Mask) -> int:
    count = LEGAL(state, mask)
    if state[PLY] == 4:
        mask[:] = False
        count = 0
    return count


@faulty("legal", "does_not_change_given_states", "`legal` changes state[2]")
def clear_the_last_action(state: State, mask: Mask) -> int:
    state[LAST] = -1
    return LEGAL(state, mask)


@faulty("observe", "stays_within_its_arrays", "(state)` uses an index outside its array: index 4")
def write_one_plane_more(state: State, planes: Planes) -> None:
    OBSERVE(state, planes)
    planes[len(planes), 0, 0] = 0


@faulty("observe", "writes_every_entry", "`observe` does not write planes[2, 0, 0]")
def leave_a_plane_out(state: State, planes: Planes) -> None:
    player = state[PLY] % 2
    for cell in range(len(state) - CELLS):
        row, column = cell // state[COLUMNS], cell % state[COLUMNS]
        planes[0, row, column] = state[CELLS + cell] == player + 1
        planes[1, row, column] = state[CELLS + cell] == 2 - player


@faulty(
    "observe",
    "observes_for_the_player_to_move",
    "planes 0 and 1 are not exchanged",
    "moves_stones_as_its_actions_say",
    "marks_what_has_won",
)
def show_colours(state: State, planes: Planes) -> None:
    OBSERVE(state, planes)
    for cell in range(len(state) - CELLS):
        row, column = cell // state[COLUMNS], cell % state[COLUMNS]
        planes[0, row, column] = state[CELLS + cell] == 1
        planes[1, row, column] = state[CELLS + cell] == 2


@faulty("observe", "observes_for_the_player_to_move", "`observe` writes 2.0; expected -1 to 1")
def show_the_ply(state: State, planes: Planes) -> None:
    OBSERVE(state, planes)
    planes[3] = state[PLY]


@faulty("observe", "observes_for_the_player_to_move", "`observe` writes nan; expected -1 to 1")
def show_no_number(state: State, planes: Planes) -> None:
    OBSERVE(state, planes)
    planes[3] = np.nan


@kernel(Signature.legal)
def divide_by_zero_and_mark_one_more(state: State, mask: Mask) -> int:
    mask[len(mask) + 1 // (len(state) - len(state))] = True
    return LEGAL(state, mask)


@faulty("observe", "does_the_same_every_time", "different results compiled and in")
def show_chance(state: State, planes: Planes) -> None:
    OBSERVE(state, planes)
    planes[3] = np.random.random()


@faulty("heuristic", "has_right_optional_rules", f"the heuristic is {HEURISTIC_SCALE}")
def be_more_than_sure(state: State) -> int:
    return HEURISTIC_SCALE


@faulty("wins_at_once", "has_right_optional_rules", "`wins_at_once` is 0; expected 1")
def never_win(state: State) -> int:
    return 0


@faulty("wins_at_once", "has_right_optional_rules", "`wins_at_once` is 2; expected one of 0, 1, -1")
def answer_two(state: State) -> int:
    return 2


@faulty("owners", "has_right_optional_rules", "the owner of cell 4 is 2; expected one")
def give_a_cell_to_player_2(state: State, cells: Owners) -> None:
    cells[:] = 0
    cells[4] = 2


@faulty("owners", "keeps_its_rules_under_symmetries", "symmetry 1 does not map the owners")
def give_the_first_cell_to_player_0(state: State, cells: Owners) -> None:
    cells[:] = 0
    cells[0] = 1


@faulty("owners", "writes_every_entry", "`owners` does not write cells[")
def forget_empty_cells(state: State, cells: Owners) -> None:
    for cell in range(len(cells)):
        if state[CELLS + cell]:
            cells[cell] = 3 - 2 * state[CELLS + cell]


@faulty("owners", "stays_within_its_arrays", "`owners(state)` uses an index outside its array")
def own_one_cell_more(state: State, cells: Owners) -> None:
    cells[:] = 0
    cells[len(cells)] = 1


@faulty("margin", "has_right_optional_rules", "the sign of `margin` is ")
def win_by_the_opposite(state: State) -> float:
    return -0.5 * state[OUTCOME]


def wrong(requirement: str, words: str, *consequences: str, **attributes: Any) -> Game:
    """Make a game of `BROKEN` with something else about it."""
    game = with_attributes(**attributes)
    BROKEN.append((requirement, game, words, *consequences))
    return game


def first_state(change: Any) -> Any:
    return lambda self: change(Mnk.initial_state(self))


def some_symmetries(numbers: list[int], cells: list[int]) -> Any:
    def symmetries(self: Mnk) -> Symmetries:
        every = Mnk.symmetries(self)
        return Symmetries(every.actions[numbers], every.cells[cells])

    return symmetries


def read_the_other_turn(self: Mnk, diagram: str) -> State:
    state = Mnk.parse(self, diagram)
    state[PLY] += 2
    return state


def render_and_move_on(self: Mnk, state: State) -> str:
    state[PLY] += 1
    return Mnk.render(self, state)


def render_nothing(self: Mnk, state: State) -> str:
    raise ValueError("not drawn yet")


TOO_SHORT = wrong("has_legal_moves_until_the_end", "is not over after max_moves, 8", max_moves=8)
wrong(
    "has_valid_sizes_and_rules",
    "`legal` is not compiled for its signature; expected @kernel(",
    rule_functions=Sound.rule_functions._replace(legal=LEGAL.py_func),
)
wrong("has_valid_sizes_and_rules", "is (4, 9); expected (C, H, W)", observation_shape=(4, 9))
wrong("has_valid_sizes_and_rules", "is np.int64(9); expected an int", num_actions=np.int64(9))
wrong("has_valid_sizes_and_rules", "edges_per_node <= most_legal <= num_actions", most_legal=10)
wrong("has_legal_moves_until_the_end", "9 actions are legal; most_legal is 8", most_legal=8)
for change, words in (
    (lambda state: state.astype(np.int32), "initial_state() is int32 [15]; expected int64 [S]"),
    (list, "initial_state() is of type list; expected a numpy array"),
    (lambda state: state[:], "initial_state() is a view"),
    (lambda state: FIRST_STATE, "the same array each time"),
    (lambda state: state[::-1].copy(), "the header of initial_state() is [0, 0, 0]"),
):
    wrong("has_a_valid_initial_state", words, initial_state=first_state(change))
wrong(
    "keeps_its_rules_under_symmetries",
    "symmetry 1 does not map the ",
    "lays_its_actions_on_cells",
    symmetries=some_symmetries([0, 1], [0, 2]),
)
wrong(
    "has_a_group_of_symmetries",
    "symmetry 1 followed by 1 is not one",
    symmetries=some_symmetries([0, 5], [0, 5]),
)
wrong("lays_its_actions_on_cells", "expected an int from 0 to 1", policy_planes=2)
wrong(
    "lays_its_actions_on_cells",
    ", on the one plane",
    rule_functions=RuleFunctions(
        count_cells_from_the_end, place_from_the_end, show_the_last_move_from_the_end
    ),
    action_cell=lambda self, state, action: 8 - action,
)
wrong(
    "reads_its_own_action_names",
    "`parse_action` reads 'a3' as 1; expected 0",
    parse_action=lambda self, state, text: (Mnk.parse_action(self, state, text) + 1) % 9,
)
wrong(
    "reads_its_own_action_names",
    "actions 0 and 1 are both named 'a1'",
    action_name=lambda self, state, action: "a1",
)
wrong(
    "reads_its_own_drawings",
    "after `parse` has read the drawing, the ply is 2; expected 0",
    parse=read_the_other_turn,
)
wrong("reads_its_own_drawings", "ValueError is raised: not drawn yet, in", render=render_nothing)
wrong("does_not_change_given_states", "a method changes the state", render=render_and_move_on)
wrong(
    "varies_only_the_initial_state",
    "the planes do not show whether the game has length 3 or length 2",
    variable_options=("length",),
)
wrong(
    "varies_only_the_initial_state",
    "with rows 2 observation_shape is (4, 2, 3); expected (4, 3, 3) as with rows 3",
    variable_options=("rows",),
)
wrong(
    "moves_stones_as_its_actions_say",
    "takes no stone of its player from its source",
    action_source=lambda self, state, action: action,
)
wrong("marks_what_has_won", "is a winning cell", winning_cells=lambda self, state: tuple(range(9)))


@pytest.mark.parametrize(
    "effort", [pytest.param(FULL, marks=pytest.mark.slow), SHORT], ids=["full", "short"]
)
@pytest.mark.parametrize("row", BROKEN, ids=lambda row: row[2])
def test_the_check_names_exactly_the_bug(row: Any, effort: int):
    requirement, game, words, *consequences = row
    first, *others = check_game(game, effort).faults
    assert (first.requirement, words in first.text) == (requirement, True), first
    assert {fault.requirement for fault in others} <= {*consequences}


def test_every_kind_of_bug_that_a_requirement_is_for_has_a_broken_game():
    requirements = {each.__name__ for each in (*RULE_REQUIREMENTS, *OTHER_REQUIREMENTS)}
    # `Game` keeps this one for its subclasses; only its dataclass could break it.
    assert requirements - {"can_be_copied_to_another_process"} <= {row[0] for row in BROKEN}


def test_a_fault_is_reported_with_the_moves_and_the_drawing_of_its_position():
    game, report = TOO_SHORT, check_game(TOO_SHORT)
    (fault,) = report.faults
    assert fault.moves is not None
    assert len(fault.moves.split()) == 8
    state = game.from_moves(fault.moves.split())
    assert fault.drawing == game.render(state)
    assert f"after the moves: {fault.moves}\n     3 " in str(report)


def test_a_bug_that_no_rule_shows_is_not_found():
    """The limit that the README names: consistent rules of another game."""

    class Lose(Sound):
        rule_functions = RuleFunctions(LEGAL, give_the_opposite_outcome, OBSERVE)
        winning_cells = Game.winning_cells

        def parse(self, diagram: str) -> State:
            state = Mnk.parse(self, diagram)
            if state[OUTCOME] != ONGOING:
                state[OUTCOME] = -state[OUTCOME]
            return state

    assert not check_game(named(Lose)).faults


def test_a_rule_that_only_numba_can_run_is_judged_by_the_margins():
    report = check_game(with_rules(play=divide_by_zero))
    assert not report.faults
    assert "note: `play` could only be run compiled (ZeroDivisionError" in str(report)
    (fault,) = check_game(with_rules(play=divide_by_zero_and_write_behind)).faults
    assert fault.requirement == "stays_within_its_arrays"
    assert fault.text == "`play(state, 8)` writes outside its arrays"
    (fault,) = check_game(with_rules(legal=divide_by_zero_and_mark_one_more)).faults
    assert fault.text == "`legal(state)` writes outside its arrays"


def test_a_game_in_which_one_player_cannot_win_says_so():
    game = Go(3, 3, komi_half_points=40)
    assert game.one_sided
    assert not check_game(game).faults

    class Silent(Go):
        one_sided = False

    faults = check_game(named(Silent, rows=3, columns=3, komi_half_points=40)).faults
    assert [fault.requirement for fault in faults] == ["gives_the_outcome_for_player_0"]


def test_a_check_says_where_too_little_was_won_to_judge_the_outcome():
    report = check_game("nim:heap=1,most=1")
    assert not report.faults
    assert "none of 32 random games was won by player 1" in str(report)
    assert "note" not in str(check_game("nim"))


# Before a training.


BROKEN_NAMES = {
    "uncounted": with_rules(play=count_no_move),
    "too_short": TOO_SHORT,
    "far_writing": with_rules(play=write_far_away),
}


@pytest.fixture
def broken_names(temporary_games) -> None:
    """Register broken games while a test runs."""
    for name, game in BROKEN_NAMES.items():
        register(name)(type(game))


@pytest.mark.parametrize(
    ("name", "words"),
    [
        ("uncounted", "uncounted cannot be trained: 'keeps its header' is violated: "),
        ("too_short", "expected a larger max_moves; `alphazero check "),
        ("far_writing", "'stays within its arrays' is violated: `play(state, "),
    ],
)
@pytest.mark.usefixtures("broken_names")
def test_a_broken_game_is_not_trained(name: str, words: str, tmp_path, capsys):
    file = tmp_path / "broken.yaml"
    file.write_text(
        f"run: {{name: broken, folder: {tmp_path}/runs}}\ngame: {{name: {name}}}\n"
        "budget: {iterations: 1}\n",
        encoding="utf-8",
    )
    assert cli.main(["train", str(file)]) == 2
    (line,) = capsys.readouterr().err.splitlines()
    assert line.startswith("error: ")
    assert words in line
    assert not (tmp_path / "runs").exists()


def test_a_sound_game_is_checked_once_and_again_when_its_source_changes(tmp_path, monkeypatch):
    checked = []

    def count(game: Game, effort: int) -> check.Report:
        checked.append(effort)
        return check_game(game, effort)

    monkeypatch.setattr(check, "check_game", count)
    monkeypatch.setattr(check, "cache_folder", lambda: tmp_path)
    file = tmp_path / "my_game.py"
    source = (
        "from dataclasses import dataclass\nfrom alphazero.games.mnk import Mnk\n\n\n"
        "@dataclass(frozen=True)\nclass Mine(Mnk):\n    max_moves = 9\n"
    )
    file.write_text(source, encoding="utf-8")
    monkeypatch.syspath_prepend(tmp_path)
    module = importlib.import_module("my_game")
    monkeypatch.setitem(sys.modules, "my_game", module)
    for _ in range(2):
        refuse_unsound(module.Mine())
    assert checked == [SHORT]
    file.write_text(f"{source}    # another source\n", encoding="utf-8")
    refuse_unsound(module.Mine())
    refuse_unsound(module.Mine(length=2))
    assert checked == [SHORT] * 3


# On the command line.


@pytest.mark.usefixtures("broken_names")
def test_the_check_is_a_command_and_a_function(capsys):
    assert cli.main(["check", "hex:size=3"]) == 0
    output = capsys.readouterr().out
    assert output.startswith("hex:size=3: every requirement met (6 random games, ")
    assert cli.main(["check", "uncounted"]) == 2
    output = capsys.readouterr().err
    assert output.startswith("error: uncounted violates 1 of the requirements")
    assert "\nafter the moves: c1\n     3 . . .\n     2 . . .\n     1 . . X\n" in output
    assert cli.main(["check", "nin"]) == 2
    assert capsys.readouterr().err.startswith("error: unknown game 'nin'; did you mean 'nim'?")
    assert not alphazero.check_game("nim:heap=7").faults
    assert not alphazero.check_game(make_game("nim")).faults
    with pytest.raises(GameError, match="unknown game"):
        alphazero.check_game("nin")
