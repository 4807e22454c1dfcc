"""KataGo's GTP extensions: rules, parameters, caches."""

import json
from pathlib import Path

import pytest
from helpers.frontends.gtp_client import GtpTalk
from helpers.players import ANY_SIZE, saved_player

from alphazero.games.go.game import Go
from alphazero.players.solver_players import MinimaxPlayer

KO = {"SIMPLE": 0, "POSITIONAL": 1, "SITUATIONAL": 2}

OF_KATAGO = """
    tromp-taylor  POSITIONAL  AREA      suicide  NONE  no-button
    chinese       SIMPLE      AREA      none     NONE  no-button
    chinese-ogs   POSITIONAL  AREA      none     NONE  no-button
    chinese-kgs   POSITIONAL  AREA      none     NONE  no-button
    japanese      SIMPLE      TERRITORY none     SEKI  no-button
    korean        SIMPLE      TERRITORY none     SEKI  no-button
    stone-scoring SIMPLE      AREA      none     ALL   no-button
    aga           SITUATIONAL AREA      none     NONE  no-button
    bga           SITUATIONAL AREA      none     NONE  no-button
    new-zealand   SITUATIONAL AREA      suicide  NONE  no-button
    aga-button    SITUATIONAL AREA      none     NONE  button
"""
"""The table of KataGo's docs/GTP_Extensions.md."""


@pytest.mark.parametrize("line", OF_KATAGO.strip().splitlines(), ids=lambda line: line.split()[0])
def test_the_rule_sets_are_katagos(line: str) -> None:
    name, ko, scoring, suicide, tax, button = line.split()
    talk = GtpTalk("random", "go:rows=3,columns=3")
    reply = talk.ask(f"kata-set-rules {name}")
    if (scoring, tax, button) != ("AREA", "NONE", "no-button"):
        wrong = {"TERRITORY": "scoring", "ALL": "tax"}.get(scoring if tax != "ALL" else tax)
        assert reply.startswith(f"? not supported: {wrong or 'hasButton'}")
        return
    assert reply == "=\n\n"
    assert tuple(talk.engine.game.options[name] for name in ("superko", "suicide")) == (
        KO[ko],
        suicide == "suicide",
    )
    rules = json.loads(talk.ask("kata-get-rules")[2:])
    assert (rules["ko"], rules["suicide"]) == (ko, suicide == "suicide")
    assert (rules["scoring"], rules["tax"], rules["hasButton"]) == ("AREA", "NONE", False)
    assert talk.ask(f"kata-set-rules {json.dumps(rules)}") == "=\n\n"
    assert json.loads(talk.ask("kata-get-rules")[2:]) == rules


def test_rules_change_one_by_one_and_unsupported_ones_are_refused() -> None:
    talk = GtpTalk("random", "go:rows=3,columns=3,komi_half_points=1")
    assert (
        talk.ask("kata-set-rule ko SITUATIONAL")
        == talk.ask("kata-set-rule suicide true")
        == "=\n\n"
    )
    assert talk.engine.game == Go(3, 3, 1, superko=2, suicide=1)
    refused = {
        "kata-set-rule scoring TERRITORY": 'not supported: scoring "TERRITORY", only "AREA"',
        "kata-set-rule ko NONE": 'ko must be SIMPLE, POSITIONAL, SITUATIONAL, got "NONE"',
        "kata-set-rule suicide maybe": 'suicide must be true or false, got "maybe"',
        "kata-set-rule suicid true": "unknown rule 'suicid'; did you mean 'suicide'?",
        "kata-set-rule whiteHandicapBonus N": 'not supported: whiteHandicapBonus "N", only "0"',
        "kata-set-rules {": "the rules are no JSON object",
        "kata-set-rules chinees": "unknown rules 'chinees'; did you mean 'chinese'?",
        "kata-set-rules": "expected the name of a rule set, or JSON",
        "kgs-rules tromp-taylor": "expected one of chinese, aga, japanese, new_zealand",
    }
    for line, message in refused.items():
        assert talk.ask(line).startswith(f"? {message}"), line
    assert talk.engine.game == Go(3, 3, 1, superko=2, suicide=1)
    assert talk.ask("kgs-rules chinese") == "=\n\n"
    assert talk.engine.game == Go(3, 3, 1, superko=1, suicide=0)
    assert (
        talk.ask('kata-set-rules {"ko":"SIMPLE","whiteHandicapBonus":0,"friendlyPassOk":true}')
        == "=\n\n"
    )
    assert talk.engine.game == Go(3, 3, 1, superko=0, suicide=0)
    for line in ("kata-get-rules", "kata-set-rules chinese"):
        assert GtpTalk("random", "hex").ask(line) == "? not supported for this game\n\n"


def test_other_rules_leave_the_moves_the_clocks_and_the_handicap(tmp_path: Path) -> None:
    talk = GtpTalk("random", "go:rows=7,columns=7")
    talk.ask("time_settings 60 0 0")
    talk.ask("fixed_handicap 2")
    talk.ask("time_left b 40 0")
    assert talk.ask("komi 0.5") == talk.ask("kata-set-rules tromp-taylor") == "=\n\n"
    assert talk.ask("get_komi") == "= 0.5\n\n"
    assert talk.ask("showboard").count("X") == 2
    assert talk.engine.clocks is not None
    assert talk.engine.clocks[0].left == 40
    assert "HA[2]" in talk.ask("printsgf")
    assert GtpTalk("random", "hex").ask("get_komi") == "= 0\n\n"


def test_moves_that_break_other_rules_keep_the_rules() -> None:
    talk = GtpTalk("random", "go:rows=3,columns=3,suicide=1,superko=0")
    for line in ("play w a2", "play w b1", "play b a1"):  # Black's stone has no liberty
        assert talk.ask(line) == "=\n\n"
    assert talk.ask("kata-set-rules chinese").startswith("? the moves so far break these rules")
    assert talk.engine.game.options["suicide"] == 1
    assert talk.ask("showboard").count("O") == 2
    talk.ask("clear_board")
    assert talk.ask("kata-set-rules chinese") == "=\n\n"


def test_a_checkpoint_plays_by_other_rules_of_ko_but_not_with_a_komi_it_does_not_see(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    path = saved_player(tmp_path / "go.safetensors", "go", ANY_SIZE)
    talk = GtpTalk(str(path), "go")
    assert talk.ask("kata-set-rules tromp-taylor") == "=\n\n"
    assert capsys.readouterr().err == f"{path} was trained on go, not on go:suicide=1\n"
    assert talk.ask("genmove b").startswith("= ")
    assert talk.ask("komi 6.5") == "? this player plays with komi 7.5 only\n\n"


def test_parameters_limit_a_move() -> None:
    talk = GtpTalk("uct:50", "connect_four")
    assert talk.ask("kata-list-params") == "= maxVisits maxPlayouts maxTime ponderingEnabled\n\n"
    for name in talk.ask("kata-list-params")[2:].split():
        value = talk.ask(f"kata-get-param {name}")[2:].strip()
        assert talk.ask(f"kata-set-param {name} {value}") == "=\n\n"
        assert talk.ask(f"kata-get-param {name}") == f"= {value}\n\n"

    def visits() -> int:
        roots = talk.engine.analyzer.roots
        return 0 if roots is None else int(roots.visits.sum())

    talk.ask("reg_genmove b")
    assert visits() == 50
    assert talk.ask("kata-set-param maxVisits 70") == "=\n\n"
    talk.ask("reg_genmove b")
    assert visits() == 70  # with the 50 of before
    assert talk.ask("kata-set-param maxPlayouts 5") == "=\n\n"
    talk.ask("clear_board")
    talk.ask("reg_genmove b")
    assert visits() == 5
    assert json.loads(talk.ask("kata-get-params")[2:])["maxVisits"] == 70
    talk.ask("set_game othello")  # limits stay
    assert talk.ask("kata-get-param maxPlayouts") == "= 5\n\n"
    refused = {
        "kata-get-param maxVisit": "no parameter 'maxVisit'; did you mean 'maxVisits'?",
        "kata-set-param maxVisits 0": "maxVisits must be an integer of at least 1",
        "kata-set-param maxTime -1": "maxTime must be",
        "kata-set-param ponderingEnabled 1": "ponderingEnabled must be true or false",
        "kata-set-param maxTime": "expected a parameter and a value",
    }
    for line, message in refused.items():
        assert talk.ask(line).startswith(f"? {message}"), line
    message = GtpTalk("random", "go").ask("kata-get-param maxVisits")
    assert message.startswith("? not supported: this player does not search a tree")


def test_the_bare_network_has_no_playouts(tmp_path: Path) -> None:
    path = saved_player(tmp_path / "a.safetensors")
    talk = GtpTalk(f"{path}:simulations=0", "tic_tac_toe")
    assert talk.ask("kata-get-param maxPlayouts") == "= 0\n\n"


def test_pondering_is_switched_on_and_stopped() -> None:
    talk = GtpTalk(
        "uct:30", "connect_four", ["kata-set-param ponderingEnabled true", "genmove b", "stop"]
    )
    talk.run()
    assert talk.engine.ponders
    assert talk.session._own_move == -1


def test_a_cleared_cache_makes_the_search_begin_again(tmp_path: Path) -> None:
    talk = GtpTalk(str(saved_player(tmp_path / "a.safetensors")), "tic_tac_toe")
    talk.ask("genmove b")
    before = talk.engine.analyzer.search.evaluations
    assert talk.ask("clear_cache") == "=\n\n"
    assert talk.engine.analyzer.roots is None
    talk.ask("undo")
    talk.ask("genmove b")
    assert talk.engine.analyzer.search.evaluations == 2 * before
    talk.ask("undo")
    talk.engine.analyzer.set_position([])
    talk.ask("genmove b")
    assert talk.engine.analyzer.search.evaluations == 2 * before  # all from the cache
    assert GtpTalk("random", "go").ask("clear_cache") == "=\n\n"


def test_time_systems_are_listed_and_checked() -> None:
    talk = GtpTalk("random", "go")
    listed = talk.ask("kata-list_time_settings")[2:].split()
    assert listed == ["none", "absolute", "byoyomi", "canadian", "fischer", "fischer-capped"]
    refused = {
        "kgs-time_settings fischer 1 2": "expected one of none, absolute, byoyomi, canadian",
        "kata-time_settings fischer 1": "fischer takes 2 numbers, got 1",
        "kata-time_settings fischer-capped 60 1 30 -1": "the limit of the main time is below",
        "kata-time_settings canadian 1 2 0": "stones or periods must be",
    }
    for line, message in refused.items():
        assert talk.ask(line).startswith(f"? {message}"), line


@pytest.mark.parametrize(("player", "own"), [("minimax:depth=2", None), ("minimax:seconds=1", 1)])
def test_a_player_has_its_own_limits_again_without_a_clock(player: str, own: float | None) -> None:
    talk = GtpTalk(player, "tic_tac_toe")
    searching = talk.engine.analyzer.player
    assert isinstance(searching, MinimaxPlayer)
    talk.ask("time_settings 0 5 1")
    talk.ask("genmove b")
    assert searching.seconds not in (None, own)
    talk.ask("kata-time_settings none")
    talk.ask("genmove w")
    assert searching.seconds == own


def test_fischers_clock_adds_its_increment_up_to_its_limit() -> None:
    talk = GtpTalk("random", "go")
    assert talk.ask("kata-time_settings fischer-capped 20 5 22 -1") == "=\n\n"
    assert talk.engine.clocks is not None
    clock = talk.engine.clocks[0]
    clock.spend(4)
    assert clock.left == 21
    clock.spend(1)
    assert clock.left == 22
    clock.spend(30)
    assert clock.left == 0
