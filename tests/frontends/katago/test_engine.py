"""The JSON analysis engine: queries as KataGo documents them, and whatever may come."""

import functools
import json
import random
import shlex
import sys
import threading
from collections.abc import Iterable, Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from helpers.paths import ROOT
from helpers.players import ANY_SIZE, saved_player

from alphazero.cli import main as cli
from alphazero.errors import PlayerError
from alphazero.frontends.katago.engine import AnalysisEngine
from alphazero.frontends.search_pool import SearchPool
from alphazero.games.registry import read_game
from alphazero.players.checkpoint_player import LEAVES_PER_BATCH, load_checkpoint_player
from alphazero.players.registry import parse_player
from alphazero.records.gtp_notation import GtpNotation

GO = "go:rows=5,columns=5,features=1"
HEADS = replace(ANY_SIZE, auxiliary=("ownership", "margin"))
BOARD = {"boardXSize": 5, "boardYSize": 5}

Answer = dict[str, Any]


spec_of = functools.cache(parse_player)  # loads each checkpoint once


class Asked:
    """An engine's answers to queries."""

    def __init__(self, player: str, game: str, perspective: str = "BLACK") -> None:
        self.answers: list[Answer] = []
        self.changed = threading.Condition()
        self.engine = AnalysisEngine(spec_of(player), read_game(game), self._say, perspective)

    def _say(self, text: str) -> None:
        assert text.endswith("\n")
        assert text.count("\n") == 1
        with self.changed:
            self.answers.append(json.loads(text))
            self.changed.notify_all()

    def wait_for(self, count: int) -> None:
        """Wait, in the thread of the lines, for a number of answers."""
        with self.changed:
            assert self.changed.wait_for(lambda: len(self.answers) >= count, 60)

    def run(self, queries: Iterable[Any], *, waits: bool = True) -> list[Answer]:
        """Return the answers to queries, each an object or a line as it is."""
        lines = (one if isinstance(one, str) else json.dumps(one) for one in queries)
        self.engine.run(lines, waits)
        return self.answers


@pytest.fixture(scope="module")
def go_player(tmp_path_factory: pytest.TempPathFactory) -> str:
    return str(saved_player(tmp_path_factory.mktemp("go") / "go.safetensors", GO, HEADS))


def ask(player: str, *queries: Any, game: str = GO, perspective: str = "BLACK") -> list[Answer]:
    return Asked(player, game, perspective).run(queries)


def ask_one(player: str, query: Answer, **options: str) -> Answer:
    (answer,) = ask(player, {"id": "q"} | query, **options)
    return answer


def test_an_analysis_is_the_search_of_the_player(go_player: str) -> None:
    """The oracle is the player's own search in each position, one at a time."""
    moves = [["B", "C3"], ["W", "D2"], ["B", "(1,1)"]]
    query = {"id": "a", "moves": moves, **BOARD, "maxVisits": 50, "analyzeTurns": [0, 1, 2, 3]}
    answers = ask(go_player, query | {"includePolicy": True, "includeOwnership": True})
    assert sorted(answer["turnNumber"] for answer in answers) == [0, 1, 2, 3]
    saved = load_checkpoint_player(go_player)
    game, notation = saved.game, GtpNotation(saved.game)
    state = game.initial_state()
    for turn, name in enumerate(["C3", "D2", "B4", ""]):
        (answer,) = [each for each in answers if each["turnNumber"] == turn]
        assert answer["isDuringSearch"] is False
        player = saved.create(seconds=1e5, leaves=LEAVES_PER_BATCH)
        slot, sign = np.array([0]), (-1) ** turn
        player.reset(slot, state[None])
        player.search.begin_search(slot, 50)
        while not player.search.has_finished:
            player.search.step()
        roots = player.search.root_statistics(slot)
        infos = answer["moveInfos"]
        assert [info["order"] for info in infos] == list(range(len(infos)))
        found = {info["move"]: info["visits"] for info in infos}
        visited = np.flatnonzero(roots.visits[0]).tolist()
        assert found == {notation.name(state, a): roots.visits[0, a] for a in visited}
        for info in infos:
            action = notation.action(state, info["move"])
            assert action is not None
            value = sign * roots.action_values[0, action]
            assert info["winrate"] == pytest.approx((1 + value) / 2)
            assert info["utility"] == pytest.approx(value)
            assert info["prior"] == pytest.approx(roots.priors[0, action])
            assert info["pv"] == notation.names(
                state, player.search.principal_variation(0, action, 15)
            )
        root = answer["rootInfo"]
        assert root["visits"] == 50
        assert root["currentPlayer"] == "BW"[turn % 2]
        assert root["winrate"] == pytest.approx((1 + sign * roots.values[0]) / 2)
        predicted = saved.evaluator.predict(game.observe(state)[None])  # type: ignore[attr-defined]
        assert root["scoreLead"] == pytest.approx(sign * float(predicted.margin[0]), abs=1e-4)
        assert infos[0]["scoreMean"] == root["scoreLead"]
        assert answer["ownership"] == pytest.approx(sign * predicted.ownership[0], abs=1e-4)
        policy, legal = np.array(answer["policy"]), game.legal_action_mask(state)
        assert (policy[~legal] == -1).all()
        assert policy[legal] == pytest.approx(roots.priors[0, legal], abs=1e-6)
        if name:
            played = notation.action(state, name)
            assert played is not None
            state = game.play(state, played)


@pytest.mark.parametrize("how", ["command line", "query"])
def test_numbers_are_reported_for_the_perspective_asked_for(go_player: str, how: str) -> None:
    query = {"moves": [["B", "C3"]], **BOARD, "maxVisits": 20, "includeOwnership": True}

    def answer_for(perspective: str) -> Answer:
        if how == "command line":
            return ask_one(go_player, query, perspective=perspective)
        settings = {"overrideSettings": {"reportAnalysisWinratesAs": perspective}}
        return ask_one(go_player, query | settings)

    black, white, own = (answer_for(name) for name in ("BLACK", "WHITE", "SIDETOMOVE"))
    assert white == own  # White is to move
    for one, other in zip(black["moveInfos"], white["moveInfos"], strict=True):
        for name in ("winrate", "lcb"):
            assert one[name] == pytest.approx(1 - other[name])
        for name in ("utility", "scoreLead", "scoreMean", "scoreSelfplay"):
            assert one[name] == pytest.approx(-other[name])
        for name in ("move", "visits", "prior", "order", "pv", "scoreStdev"):
            assert one[name] == other[name]
    assert black["ownership"] == pytest.approx([-share for share in white["ownership"]])
    lcb = [(info["winrate"], info["lcb"]) for info in white["moveInfos"]]
    assert all(bound < rate for rate, bound in lcb)


def test_every_game_is_analyzed_in_its_own_coordinates() -> None:
    for game, move in (("othello", "D3"), ("hex", "A1"), ("connect_four", "D1")):
        (answer,) = ask("uct:40", {"id": "x", "moves": [["B", move]]}, game=game)
        assert answer["rootInfo"]["visits"] == 40
        names = {info["move"] for info in answer["moveInfos"]}
        notation = GtpNotation(made := read_game(game))
        state = made.play(made.initial_state(), notation.action(made.initial_state(), move))
        legal = np.flatnonzero(made.legal_action_mask(state)).tolist()
        assert names <= {notation.name(state, action) for action in legal}


def test_a_won_position_and_a_finished_one_are_reported_as_such() -> None:
    moves = [["B", "A1"], ["W", "B2"], ["B", "A2"], ["W", "C3"], ["B", "A3"]]
    query = {"id": "x", "moves": moves, "analyzeTurns": [4, 5], "maxVisits": 400}
    finished, won = sorted(
        ask("uct", query, game="tic_tac_toe"), key=lambda one: -one["turnNumber"]
    )
    assert finished["moveInfos"] == []
    assert finished["rootInfo"]["winrate"] == 1
    assert finished["rootInfo"]["visits"] == 0
    assert won["moveInfos"][0]["move"] == "A3"
    assert won["moveInfos"][0]["winrate"] == 1


def test_stones_rules_komi_and_the_first_player_are_those_asked_for(go_player: str) -> None:
    stones = [["B", "C3"], ["B", "D4"], ["W", "B2"]]
    query = {"moves": [], "initialStones": stones, **BOARD, "komi": 3, "maxVisits": 5}
    plain = ask_one(go_player, query | {"rules": "chinese-kgs"})
    assert plain["rootInfo"]["currentPlayer"] == "W"  # there are black stones
    assert ask_one(go_player, query | {"initialPlayer": "B"})["rootInfo"]["currentPlayer"] == "B"
    assert not {"C3", "D4", "B2"} & {info["move"] for info in plain["moveInfos"]}
    both = {"moves": [["B", "pass"], ["W", "pass"]], **BOARD}
    for komi in (0.5, -3):
        answer = ask_one(go_player, both | {"komi": komi})
        assert answer["rootInfo"]["scoreLead"] == -komi
    # By situational superko and with suicide the rules are others, but the player goes on.
    answer = ask_one(go_player, query | {"rules": {"ko": "SITUATIONAL", "suicide": True}})
    assert answer["rootInfo"]["visits"] == 5


def test_unsupported_settings_get_a_warning_and_the_search_runs_without_them(
    go_player: str, tmp_path: Path
) -> None:
    query = {"id": "w", "moves": [], **BOARD, "maxVisits": 3}
    odd = {"rules": "japanese", "foo": 1, "overrideSettings": {"wideRootNoise": 0.04}}
    *warnings, answer = ask(go_player, query | odd)
    assert {each["field"] for each in warnings} == {
        "rules",
        "foo",
        "overrideSettings.wideRootNoise",
    }
    assert all(each["id"] == "w" and each["warning"] for each in warnings)
    assert answer["rootInfo"]["visits"] == 3
    blind = str(saved_player(tmp_path / "blind.safetensors", "go:rows=5,columns=5"))
    warning, answer = ask(blind, query | {"komi": 6.5}, game="go:rows=5,columns=5")
    assert warning["warning"] == "this player plays with komi 7.5 only"
    assert "scoreLead" not in answer["rootInfo"]
    warning, _ = ask("uct:5", {"id": "w", "moves": [], "rules": "chinese"}, game="hex")
    assert warning["field"] == "rules"


WRONG = [
    ("not json", None, "could not parse input line as json request"),
    ("[1]", None, "was not an object"),
    ('{"id":3}', None, 'Request must have a string "id" field'),
    ('{"id":"a","moves":[],"maxVisits":NaN}', None, "NaN is no JSON number"),
    ("[" * 50_000, None, "could not parse"),
    ('{"id":"a","moves":[["B","' + "x" * 70_000 + '"]]}', None, "Request line too long"),
    ({}, "moves", "Must be an array of pairs"),
    ({"moves": [["B"]]}, "moves", "Must be an array of pairs"),
    ({"moves": [["X", "C3"]]}, "moves", "Must be a player"),
    ({"moves": [["B", "C3"], ["W", "C3"]]}, "moves", "Illegal move 1: C3"),
    ({"moves": [["B", "(9,0)"]]}, "moves", "Not a cell of the board: (9,0)"),
    ({"moves": [], "boardXSize": 99}, "boardXSize", "Must be an integer from 1 to"),
    ({"moves": [], "boardXSize": "5"}, "boardXSize", "Must be an integer"),
    ({"moves": [], "maxVisits": 0}, "maxVisits", "Must be an integer from 1 to"),
    ({"moves": [], "maxVisits": True}, "maxVisits", "Must be an integer from 1 to"),
    ({"moves": [], "komi": 0.3}, "komi", "komi must be a multiple of a half"),
    ({"moves": [], "komi": 1e9}, "komi", "Must be a number from -150 to 150"),
    ({"moves": [], "rules": "chinees"}, "rules", "unknown rules 'chinees'; did you mean"),
    ({"moves": [], "rules": 3}, "rules", "Must be the name of a rule set"),
    ({"moves": [], "analyzeTurns": [1]}, "analyzeTurns", "from 0 to 0, got 1"),
    ({"moves": [], "priorities": [1]}, "priorities", "Must have the length of analyzeTurns"),
    ({"moves": [], "includePolicy": 1}, "includePolicy", "Must be true or false, got 1"),
    ({"moves": [], "initialStones": [["B", "Z9"]]}, "initialStones", "Not a cell of the board"),
    (
        {"moves": [], "initialStones": [["B", "A1"], ["W", "A2"], ["W", "B1"]]},
        "initialStones",
        "A chain of stones has no liberty",
    ),
    ({"moves": [], "overrideSettings": {"maxTime": -1}}, "overrideSettings.maxTime", "Must be"),
    (
        {"moves": [], "avoidMoves": [{"player": "B", "moves": ["K9"], "untilDepth": 1}]},
        "avoidMoves",
        "Not a cell of the board: k9",
    ),
    ({"moves": [], "avoidMoves": [{"player": "B"}]}, "avoidMoves.untilDepth", "Must be"),
    ({"action": "fly"}, "action", "unknown action 'fly' (known: query_version"),
    ({"action": "terminat"}, "action", "did you mean 'terminate'?"),
    ({"action": "terminate"}, "terminateId", "Must be a string, got nothing"),
]


def test_a_query_that_is_wrong_gets_one_error_with_its_field(go_player: str) -> None:
    queries = [each if isinstance(each, str) else {"id": "a"} | each for each, _, _ in WRONG]
    answers = ask(go_player, *queries)
    assert len(answers) == len(WRONG)
    for answer, (query, field, text) in zip(answers, WRONG, strict=True):
        assert text in answer["error"], (query, answer)
        assert answer.get("field") == field
        assert answer.get("id") == (None if field is None else "a")


def test_moves_are_avoided_and_allowed_for_one_player(go_player: str) -> None:
    query = {"moves": [["B", "C3"]], **BOARD, "maxVisits": 60, "includePolicy": True}
    free = ask_one(go_player, query)
    names = [info["move"] for info in free["moveInfos"]]
    assert len(names) > 3

    def searched(restriction: Answer) -> set[str]:
        answer = ask_one(go_player, query | restriction)
        assert answer["policy"] == free["policy"]
        assert answer["rootInfo"]["visits"] == 60
        return {info["move"] for info in answer["moveInfos"]}

    some = {"player": "W", "moves": names[:3], "untilDepth": 1}
    assert not searched({"avoidMoves": [some]}) & set(names[:3])
    assert searched({"allowMoves": [some]}) == set(names[:3])
    assert searched({"allowMoves": [some | {"player": "B"}]}) == set(names)
    everything = [f"{column}{row}" for column in "ABCDE" for row in range(1, 6)] + ["pass"]
    whole = [{"player": "W", "moves": everything, "untilDepth": 1}]
    answer = ask_one(go_player, query | {"avoidMoves": whole})
    assert answer["error"] == "No legal move is left to search"
    deep = {"avoidMoves": [some | {"untilDepth": 9}]}
    warning, _ = ask(go_player, {"id": "q"} | query | deep)
    assert warning["warning"] == "moves are restricted as if untilDepth were 1"


def test_actions_are_echoed_with_what_they_ask_for(go_player: str) -> None:
    version, models, cleared = ask(
        go_player,
        {"id": "v", "action": "query_version"},
        {"id": "m", "action": "query_models"},
        {"id": "c", "action": "clear_cache", "more": [1]},
    )
    assert version.keys() == {"id", "action", "version", "git_hash"}
    assert models["models"][0]["name"] == "go.safetensors"
    assert cleared == {"id": "c", "action": "clear_cache", "more": [1]}
    (models,) = ask("uct:5", {"id": "m", "action": "query_models"})
    assert models["models"] == []


def test_caches_are_cleared_after_the_player_has_failed(monkeypatch: pytest.MonkeyPatch) -> None:
    def fail(*_: object) -> None:
        raise PlayerError("no player today")

    monkeypatch.setattr(SearchPool, "_create_player", fail)
    asked = Asked("uct:5", "tic_tac_toe")

    def queries() -> Iterator[Any]:
        yield {"id": "a", "moves": []}
        yield {"id": "b", "action": "clear_cache"}
        asked.wait_for(2)
        yield {"id": "c", "action": "clear_cache"}
        asked.wait_for(3)

    answers = {each.pop("id"): each for each in asked.run(queries())}
    cleared = {"action": "clear_cache"}
    assert answers == {"a": {"error": "no player today"}, "b": cleared, "c": cleared}


def test_a_long_search_reports_and_is_terminated_with_what_it_found() -> None:
    asked = Asked("uct", "connect_four")
    endless = {"moves": [], "maxVisits": 10**9, "reportDuringSearchEvery": 0.01}

    def queries() -> Iterator[Any]:
        yield {"id": "a", "analyzeTurns": [0]} | endless
        asked.wait_for(3)
        yield {"id": "t", "action": "terminate", "terminateId": "b"}
        yield {"id": "u", "action": "terminate", "terminateId": "a", "turnNumbers": [1]}
        asked.wait_for(8)
        yield {"id": "t", "action": "terminate", "terminateId": "a"}

    answers = asked.run(queries())
    reports = [each for each in answers if each["id"] == "a"]
    assert all(each["isDuringSearch"] for each in reports[:-1])
    assert len(reports) > 3
    assert reports[-1]["isDuringSearch"] is False
    visits = [each["rootInfo"]["visits"] for each in reports]
    assert visits == sorted(visits)
    assert 0 < visits[-1] < 10**9


def test_waiting_positions_are_terminated_without_results_and_all_at_once() -> None:
    asked = Asked("uct", "connect_four")

    def queries() -> Iterator[Any]:
        for number in range(40):
            yield {"id": f"{number}", "moves": [], "maxVisits": 10**9}
        yield {"id": "t", "action": "terminate_all"}

    *_, last = answers = asked.run(queries())
    assert last["id"] != "t"
    assert {each["id"] for each in answers} == {"t", *map(str, range(40))}
    nothing = [each for each in answers if each.get("noResults")]
    assert len(nothing) >= 40 - 16
    assert nothing[0].keys() == {"id", "isDuringSearch", "noResults", "turnNumber"}


def test_urgent_positions_are_searched_before_others() -> None:
    """All sixteen slots are busy until all is asked; then the waiting ones start by priority."""
    asked = Asked("uct", "tic_tac_toe")

    def queries() -> Iterator[Any]:
        for number in range(16):
            yield {"id": f"busy {number}", "moves": [], "maxVisits": 10**9}
        yield {"id": "low", "moves": [], "maxVisits": 200_000, "priority": -5}
        for number in range(16):
            yield {"id": f"usual {number}", "moves": [], "maxVisits": 200_000}
        moves = [["B", "A1"], ["W", "A2"]]
        urgent = {"moves": moves, "analyzeTurns": [0, 2], "priorities": [1, 9], "maxVisits": 2}
        yield {"id": "urgent"} | urgent
        yield {"id": "t", "action": "terminate", "terminateId": "busy 3"}
        asked.wait_for(4)
        yield {"id": "t", "action": "terminate_all"}

    answers = [each for each in asked.run(queries()) if "action" not in each]
    order = [(each["id"], each["turnNumber"]) for each in answers]
    assert order[:3] == [("busy 3", 0), ("urgent", 2), ("urgent", 0)]


def test_without_waiting_open_queries_stay_unanswered() -> None:
    endless = {"id": "a", "moves": [], "maxVisits": 10**9}
    assert Asked("uct", "connect_four").run([endless], waits=False) == []


def test_several_boards_are_analyzed_at_once(go_player: str, capsys: Any) -> None:
    sizes = [(5, 5), (4, 6), (7, 7)]
    queries = [
        {"id": f"{x} {y}", "moves": [], "boardXSize": x, "boardYSize": y, "maxVisits": 9}
        for x, y in sizes * 2
    ]
    answers = ask(go_player, *(each | {"includePolicy": True} for each in queries))
    found = sorted((each["id"], len(each["policy"])) for each in answers)
    assert found == sorted((f"{x} {y}", x * y + 1) for x, y in sizes * 2)
    assert capsys.readouterr().err.count("was trained on") == 2
    (answer,) = ask("uct:3", {"id": "x", "moves": [], "boardXSize": 9, "boardYSize": 8}, game="hex")
    assert answer["field"] == "boardXSize"


def test_hashes_tell_positions_apart_and_symmetric_ones_together(go_player: str) -> None:
    hashes = {}
    for name in ("C3", "B2", "D4", "B4"):
        root = ask_one(go_player, {"moves": [["B", name]], **BOARD, "maxVisits": 1})["rootInfo"]
        hashes[name] = root["thisHash"], root["symHash"]
    assert len({this for this, _ in hashes.values()}) == 4
    assert len({symmetric for name, (_, symmetric) in hashes.items() if name != "C3"}) == 1
    assert len({symmetric for _, symmetric in hashes.values()}) == 2


def test_every_line_is_answered_whatever_it_is(go_player: str) -> None:
    rng = random.Random(3)
    sound = {
        "id": "a",
        "moves": [["B", "C3"], ["W", "D4"]],
        "rules": "chinese-kgs",
        "komi": 6.5,
        **BOARD,
        "analyzeTurns": [0, 2],
        "maxVisits": 1,
        "includePolicy": True,
        "priorities": [1, 2],
        "overrideSettings": {"maxTime": 1},
        "avoidMoves": [{"player": "W", "moves": ["A1"], "untilDepth": 1}],
    }
    odd = [None, True, -1, 3, 1e300, "", "B", "é\ud800", [], [[]], {}, [1], ["B", "C3"], {"a": 1}]
    queries, whole = list[Any](), set[str]()
    for number in range(600):
        query = json.loads(json.dumps(sound))
        for name in rng.sample(sorted(query.keys() - {"id"}), rng.randint(1, 2)):
            query[name] = rng.choice(odd)
        line = json.dumps(query | {"id": f"{number}"})
        if rng.random() < 0.2:
            place = rng.randrange(len(line))
            line = line[:place] + rng.choice('",:[]{}é0') + line[place + rng.randint(0, 2) :]
        else:
            whole.add(f"{number}")
        queries.append(line)
    answers = ask(go_player, *queries)
    for answer in answers:
        assert {"error", "warning", "moveInfos", "noResults"} & answer.keys()
    ended = {each.get("id") for each in answers if "warning" not in each}
    assert whole <= ended
    assert any("error" in each and each.get("id") in whole for each in answers)
    assert any("moveInfos" in each for each in answers)


def test_the_command_line_serves_queries(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    lines = iter(['{"id":"a","moves":[]}', ""])
    monkeypatch.setattr("alphazero.frontends.katago.engine.lines_of", lambda _: lines)
    assert cli.main(["analyze", "uct:30", "--game", "tic_tac_toe"]) == 0
    out, err = capsys.readouterr()
    assert json.loads(out)["rootInfo"]["visits"] == 30
    assert err == "Started, ready to begin handling requests\n"
    for wrong in (["random", "--game", "go"], ["uct:30"], ["minimax:depth=2", "--game", "go"]):
        assert cli.main(["analyze", *wrong]) == 2
        assert capsys.readouterr().err.count("\n") == 1


def engine_script(folder: Path, *arguments: str) -> Path:
    """Write a program that other programs start in KataGo's place."""
    code = "import sys; from alphazero.cli.main import main; sys.exit(main(sys.argv[1:]))"
    command = shlex.join([sys.executable, "-c", code, "analyze", *arguments])
    script = folder / "katago"
    script.write_text(f"#!/bin/sh\nexec {command}\n")
    script.chmod(0o755)
    return script


@pytest.mark.slow
@pytest.mark.filterwarnings("ignore::ResourceWarning")  # its pipes stay open
@pytest.mark.filterwarnings("ignore::pytest.PytestUnraisableExceptionWarning")
def test_katagoanal_analyzes_a_game_with_it(tmp_path: Path) -> None:
    """KataGoAnal writes KataGo's analyses into SGF files: pip install katagoanal."""
    driver = pytest.importorskip("KataGoAnal.katago_driver", reason="needs pip install katagoanal")
    sgf_io = pytest.importorskip("KataGoAnal.sgf_io")
    path = tmp_path / "game.sgf"
    path.write_text("(;GM[1]SZ[9]KM[6.5]RU[Chinese];B[ee];W[cc];B[gg];W[gc];B[cg])")
    script = engine_script(tmp_path, str(ROOT / "checkpoints/go_9x9.safetensors"))
    with driver.KataGoDriver(str(script), "config", "model") as katago:
        turns = katago.analyze_game(sgf_io.Game.from_path(str(path)), max_visits=60)
    assert [turn["turn"] for turn in turns] == list(range(6))
    for turn in turns:
        assert turn["visits"] == 60
        assert 0 <= turn["winrate"] <= 1
        assert -81 <= turn["score_lead"] <= 81
        assert turn["current_player"] == "BW"[turn["turn"] % 2]
