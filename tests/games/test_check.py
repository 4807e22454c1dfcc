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
from alphazero.games.contract.watched_rules import WatchedRules
from alphazero.games.game import LAST, ONGOING, OUTCOME, PLY, Game, State, Symmetries  # noqa: F401
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


def named(kind: type[Game], **options: int) -> Game:
    """Return a game of a class that can be found again by its name, as pickle wants it."""
    kind.__module__ = __name__
    kind.__qualname__ = kind.__name__ = f"Broken{len(vars(sys.modules[__name__]))}"
    setattr(sys.modules[__name__], kind.__name__, kind)
    return kind(**options)


FRAMES = {
    "play": ("state, action", "place_stone(state, action, action); {}"),
    "legal": ("state, mask", "before = mask.copy(); count = LEGAL(state, mask); {}; return count"),
    "observe": ("state, planes", "before = planes.copy(); OBSERVE(state, planes); {}"),
    "owners": ("state, cells", "before = cells.copy(); cells[:] = 0; {}"),
    **dict.fromkeys(("heuristic", "wins_at_once", "margin"), ("state", "return {}")),
}
"""The parameters of rules of tic-tac-toe, and their lines around a bug."""

OPPOSITE = "if state[OUTCOME] != ONGOING: state[OUTCOME] = -state[OUTCOME]"

BUGS = {
    "keeps_its_header": [
        ("play", "state[PLY] -= 1", "is 0; expected 1"),
        ("play", "state[LAST] = -1", "is -1; expected"),
        (
            "play",
            "if state[OUTCOME] == 0: state[OUTCOME] = 5",
            "the outcome (ONGOING is 2) is 5; exp",
        ),
    ],
    "gives_the_outcome_for_player_0": [
        ("play", "if state[OUTCOME] == -1: state[OUTCOME] = 1", "player 0 wins all "),
        ("play", "if state[OUTCOME] == 1: state[OUTCOME] = -1", "player 1 wins all "),
    ],
    "has_legal_moves_until_the_end": [
        (
            "play",
            "if state[OUTCOME] == 0: state[OUTCOME] = ONGOING",
            "at least a pass, or an outcome written",
        ),
        ("legal", "if state[PLY] == 4: mask[:] = count = 0", "not over and no action is legal"),
        ("legal", "count += 1", "the answer of `legal` is 10; expected 9"),
        ("legal", "if state[OUTCOME] != ONGOING: mask[0] = count = 1", "the game is over and"),
    ],
    "stays_within_its_arrays": [
        ("play", "state[10**11] = 1", "index 100000000000 is out of bounds"),
        ("observe", "planes[len(planes), 0, 0] = 0", "uses an index outside its array: index 4"),
        ("owners", "cells[len(cells)] = 1", "`owners(state)` uses an index outside its array"),
    ],
    "writes_every_entry": [
        ("legal", "mask[5] = before[5]", "does not write mask[5]"),
        ("observe", "planes[2, 0, 0] = before[2, 0, 0]", "does not write planes[2, 0, 0]"),
        ("owners", "cells[5] = before[5]", "does not write cells[5]"),
    ],
    "does_not_change_given_states": [("legal", "state[LAST] = -1", "`legal` changes state[2]")],
    "observes_for_the_player_to_move": [
        ("observe", "planes[3, 1, 1] = state[PLY]", "`observe` writes 2.0; expected -1 to 1"),
        ("observe", "planes[3, 1, 1] = np.nan", "`observe` writes nan; expected -1 to 1"),
        (
            "observe",
            "for cell in range(9): planes[0, cell // 3, cell % 3] = state[CELLS + cell] == 1",
            "planes 0 and 1 are not exchanged",
            "moves_stones_as_its_actions_say",
            "marks_what_has_won",
        ),
    ],
    "moves_stones_as_its_actions_say": [
        (
            "legal",
            "if state[OUTCOME] == ONGOING: mask[:], count = True, 9",
            "puts no stone of its player on its cell ",
            "reads_its_own_drawings",
        )
    ],
    "forgets_the_last_move_if_it_says_so": [
        (
            "legal",
            "if state[LAST] == 0 and count > 1: mask[8], count = False, count - int(mask[8])",
            "without the last move, the mask of legal actions is [",
            "keeps_its_rules_under_symmetries",
            "reads_its_own_drawings",
        )
    ],
    "does_the_same_every_time": [
        ("observe", "planes[3, 1, 1] = np.random.random()", "different results compiled and in")
    ],
    "has_right_optional_rules": [
        ("heuristic", "HEURISTIC_SCALE", f"the heuristic is {HEURISTIC_SCALE}"),
        ("wins_at_once", "0", "`wins_at_once` is 0; expected 1"),
        ("wins_at_once", "2", "`wins_at_once` is 2; expected one of 0, 1, -1"),
        ("owners", "cells[4] = 2", "the owner of cell 4 is 2; expected one"),
        ("margin", "-0.5 * state[OUTCOME]", "the sign of `margin` is "),
    ],
    "keeps_its_rules_under_symmetries": [
        ("owners", "cells[0] = 1", "symmetry 1 does not map the owners")
    ],
}
"""Rules of one line that is wrong, by the requirement that they violate."""


def with_bug(rule: str, bug: str, base: type[Game] = Sound) -> Game:
    """Return tic-tac-toe with a rule whose frame holds a bug."""
    parameters, frame = FRAMES[rule]
    names, lines = dict(globals()), frame.format(bug).replace("; ", "\n    ")
    exec(f"def {rule}({parameters}):\n    {lines}\n", names)
    compiled = kernel(getattr(Signature, rule))(names[rule])
    return with_attributes(base, rule_functions=base.rule_functions._replace(**{rule: compiled}))


def with_attributes(base: type[Game] = Sound, **attributes: Any) -> Game:
    """Return tic-tac-toe with something else about it."""
    return named(type("Broken", (base,), attributes))


for requirement, bugs in BUGS.items():
    for rule, bug, *words in bugs:
        BROKEN.append((requirement, with_bug(rule, bug), *words))
BROKEN.append(
    ("gives_the_outcome_for_player_0", with_bug("play", OPPOSITE, Estimating), "the wrong sign")
)


@kernel(Signature.play)
def mark_the_cell_below(state: State, action: int) -> None:
    place_stone(state, action, action)
    state[CELLS + action + state[COLUMNS]] += 0


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


wrong(
    "stays_within_its_arrays",
    "test_check.py: state[CELLS + action",
    rule_functions=Sound.rule_functions._replace(play=mark_the_cell_below),
)
TOO_SHORT = wrong(
    "has_legal_moves_until_the_end", "max_moves, 8; expected an outcome written", max_moves=8
)
wrong(
    "has_valid_sizes_and_rules",
    "`legal` is not compiled for its signature; expected @kernel(",
    rule_functions=Sound.rule_functions._replace(legal=LEGAL.py_func),
)
wrong("has_valid_sizes_and_rules", "is (4, 9); expected (C, H, W)", observation_shape=(4, 9))
wrong("has_valid_sizes_and_rules", "is np.int64(9); expected an int", num_actions=np.int64(9))
wrong("has_valid_sizes_and_rules", "32768; a search takes 32767 at most", num_actions=1 << 15)
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
wrong(
    "has_a_group_of_symmetries",
    "symmetries() is of type NoneType; expected Symmetries(actions, cells)",
    symmetries=lambda self: None,
)
wrong(
    "has_a_group_of_symmetries",
    "the symmetries' actions are list [1, 9]; expected int64 [1, 9]",
    symmetries=lambda self: Symmetries([[*range(9)]], [[*range(9)]]),
)
wrong("lays_its_actions_on_cells", "expected an int from 0 to 1", policy_planes=2)
wrong(
    "lays_its_actions_on_cells",
    ", on the one plane",
    action_cell=lambda self, state, action: 8 - action,
    pieces=lambda self, state: Mnk.pieces(self, state)[::-1, ::-1],
    winning_cells=Game.winning_cells,
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
wrong(
    "moves_stones_as_its_actions_say",
    "expected an int, 0 to 8, or None",
    action_cell=lambda self, state, action: np.int64(action),
)
wrong("marks_what_has_won", "is a winning cell", winning_cells=lambda self, state: tuple(range(9)))
wrong(
    "marks_what_has_won",
    "is a winning cell; expected an int",
    winning_cells=lambda self, state: np.array(Mnk.winning_cells(self, state)),
)
wrong(
    "marks_what_has_won",
    "expected an int or a float each",
    points=lambda self, state: (state[OUTCOME], 0),
)
for attribute, value, words in (
    ("side_names", ("Red",), "side_names is ('Red',); expected two texts"),
    ("board_style", "holes", "expected a BoardStyle, such as BoardStyle.SQUARES"),
    ("material", "felt", "expected a Material, such as Material.WOOD"),
):
    wrong("looks_as_pictures_can_draw_it", words, **{attribute: value})
wrong(
    "reads_its_own_action_names",
    "action 0 is named 'cell a3'; expected a name without spaces",
    action_name=lambda self, state, action: f"cell {Mnk.action_name(self, state, action)}",
    parse_action=lambda self, state, text: Mnk.parse_action(self, state, text.split()[-1]),
)


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


def test_an_exception_is_reported_with_the_last_line_of_the_games_own_file():
    class Early(Sound):
        def initial_state(self) -> State:
            return Mnk().from_moves("z9")

    (fault,) = check_game(named(Early)).faults
    assert fault.text.endswith('of test_check.py: return Mnk().from_moves("z9")')


def test_a_check_that_is_stopped_says_where_a_rule_was_running(monkeypatch, capsys):
    def stop(state: State, mask: Any) -> int:
        raise KeyboardInterrupt

    rules = WatchedRules(Sound(), work=1000)
    monkeypatch.setitem(rules._python, "legal", stop)
    assert cli.run_and_report(lambda: rules.legal(FIRST_STATE) and None) == 130
    ending = "stopped while `legal` ran, in line {} of test_check.py: raise KeyboardInterrupt"
    assert capsys.readouterr().err == f"\n{ending.format(stop.__code__.co_firstlineno + 1)}\n"


def test_a_bug_that_no_rule_shows_is_not_found():
    """The limit that the README names: consistent rules of another game."""

    class Lose(Sound):
        rule_functions = with_bug("play", OPPOSITE).rule_functions
        winning_cells = Game.winning_cells

        def parse(self, diagram: str) -> State:
            state = Mnk.parse(self, diagram)
            if state[OUTCOME] != ONGOING:
                state[OUTCOME] = -state[OUTCOME]
            return state

    assert not check_game(named(Lose)).faults


def test_a_rule_that_only_numba_can_run_is_judged_by_the_margins():
    zero = "1 // (len(state) - len(state))"  # where it is compiled; an error in Python
    report = check_game(with_bug("play", f"state[LAST] += {zero}"))
    assert not report.faults
    assert "note: `play` could only be run compiled (ZeroDivisionError" in str(report)
    (fault,) = check_game(with_bug("play", f"state[len(state) + {zero}] = 0")).faults
    assert fault.requirement == "stays_within_its_arrays"
    assert fault.text == "`play(state, 8)` writes outside its arrays"
    (fault,) = check_game(with_bug("legal", f"mask[len(mask) + {zero}] = True")).faults
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


@pytest.fixture
def uncounted(temporary_games) -> None:
    """Register a broken game while a test runs."""
    register("uncounted")(type(with_bug("play", "state[PLY] -= 1")))


@pytest.mark.usefixtures("uncounted")
def test_a_broken_game_is_not_trained(tmp_path, only_line):
    file = tmp_path / "broken.yaml"
    file.write_text(
        f"run: {{name: broken, folder: {tmp_path}/runs}}\ngame: {{name: uncounted}}\n"
        "budget: {iterations: 1}\n",
        encoding="utf-8",
    )
    line = only_line("train", file)
    assert line.startswith("error: uncounted cannot be trained: 'keeps its header' is violated: ")
    assert line.endswith("; `alphazero check uncounted` shows where")
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


@pytest.mark.usefixtures("uncounted")
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
