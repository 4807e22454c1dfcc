"""The tree of moves behind the faces: taken back, made again, branched."""

import dataclasses

import numpy as np
import pytest

from alphazero.errors import GameError
from alphazero.frontends.analyzer import Analyzer, Candidate
from alphazero.frontends.game_tree import GameTree, SearchResult
from alphazero.games import make_game
from alphazero.games.game import ONGOING
from alphazero.players.registry import parse_player
from alphazero.records.played_game import PlayedGame

GAME = make_game("tic_tac_toe")


def test_moves_lead_to_the_position_that_the_rules_say() -> None:
    study = GameTree(GAME, [4, 0, 8])
    assert study.moves == [4, 0, 8]
    assert (study.state == GAME.play(GAME.initial_state(), 4, 0, 8)).all()
    assert study.to_play == 1


def test_undo_and_redo_walk_along_one_line() -> None:
    study = GameTree(GAME, [4, 0, 8])
    assert study.undo()
    assert study.undo()
    assert study.moves == [4]
    assert study.redo()
    assert study.redo()
    assert study.moves == [4, 0, 8]
    assert not study.redo()


def test_there_is_nothing_before_the_first_position() -> None:
    study = GameTree(GAME)
    assert not study.undo()
    assert study.moves == []


def test_another_move_begins_a_branch_and_loses_nothing() -> None:
    study = GameTree(GAME, [4, 0, 8])
    study.go_to(1)
    study.make(2)
    assert study.moves == [4, 2]
    assert [node.action for node in study.root.children[0].children] == [0, 2]
    assert not study.redo()  # the new branch ends here
    study.undo()
    study.make(0)
    assert study.redo()
    assert study.moves == [4, 0, 8]


def test_the_line_goes_on_after_the_position_that_is_looked_at() -> None:
    study = GameTree(GAME, [4, 0, 8])
    study.go_to(1)
    assert [node.action for node in study.line] == [None, 4, 0, 8]
    assert [node.action for node in study.path] == [None, 4]
    assert not study.go_to(4)
    assert study.here.ply == 1


def test_an_illegal_move_changes_nothing() -> None:
    study = GameTree(GAME, [4])
    with pytest.raises(GameError):
        study.make(4)
    assert study.moves == [4]
    assert not study.here.children


def test_the_game_is_written_whole_with_what_is_said_of_its_moves() -> None:
    study = GameTree(GAME)
    for action, comment in ((0, ""), (3, "dull"), (1, ""), (4, ""), (2, "wins")):
        study.make(action, comment)
    study.go_to(2)
    played = study.played(("A", "B"))
    assert played.actions == (0, 3, 1, 4, 2)
    assert played.outcome == 1
    assert played.comments == ("", "dull", "", "", "wins")
    assert GameTree(GAME, [4]).played(("A", "B")).outcome == ONGOING


def test_a_game_that_was_given_up_is_lost_there_only_and_comes_back_so() -> None:
    study = GameTree(GAME, [4, 0])
    study.resign(0)
    assert (study.outcome, study.loser, study.is_over) == (-1, 0, True)
    played = study.played(("A", "B"))
    assert (played.outcome, played.resigned, played.forfeit_reason) == (-1, True, "")
    study.undo()
    assert (study.outcome, study.loser) == (ONGOING, None)
    assert study.played(("A", "B")).resigned, "it ends the line, wherever one looks"
    study.make(8)
    assert study.played(("A", "B")).outcome == ONGOING

    again = GameTree.of(played)
    assert (again.moves, again.outcome, again.loser) == ([4, 0], -1, 0)
    faulty = GameTree.of(dataclasses.replace(played, resigned=False, forfeit_reason="it crashed"))
    assert faulty.loser == 0
    assert faulty.played(("A", "B")).forfeit_reason == "it crashed"
    assert not faulty.played(("A", "B")).resigned


def test_the_value_of_a_position_is_the_first_players_and_the_best_that_is_known() -> None:
    study = GameTree(GAME, [0, 3, 1])
    first, middle, here = study.path[1:]
    assert study.name(here) == GAME.action_name(middle.state, 1)
    assert [study.value(node) for node in study.line] == [None] * 4
    first.thought = SearchResult(-0.5, 0.0, 10, [Candidate(3, 10, 0.25, 1.0, [3])])
    assert study.value(first) == 0.5, "it was thought for the second player, who is to move"
    assert study.value(middle) == -0.25, "what was thought of the move that led there"
    middle.thought = SearchResult(0.75, 0.0, 10, [])
    assert study.value(middle) == 0.75, "its own thought is newer"
    study.resign(1)
    assert study.value(here) == 1


def test_a_value_that_a_file_tells_of_a_position_is_known_until_a_search_knows_more() -> None:
    comments = ("", "win rate 25% (value -0.50), policy 40%", "win rate 90% (value +0.80)")
    study = GameTree.of(PlayedGame(GAME, ("A", "B"), (0, 3, 1), ONGOING, comments=comments))
    first, second = study.line[1:3]
    assert [study.value(node) for node in study.line] == [None, 0.5, 0.8, None]
    first.thought = SearchResult(0.25, 0.0, 10, [])
    assert study.value(first) == -0.25
    assert study.value(second) == 0.8


def test_a_game_from_a_file_is_its_players_until_it_is_gone_on_with_otherwise() -> None:
    played = PlayedGame(
        GAME, ("Ann", "Bob"), (0, 3, 1), -1, opening=2, told="W+T", forfeit_reason="out of time"
    )
    study = GameTree.of(played)
    study.go_to(1)
    assert study.source == study.played(("me", "you")) == played
    study.make(3)  # as in the file
    assert study.source == played
    study.make(8)
    assert study.source is None
    gone_on = study.played(("me", "you"))
    assert (gone_on.players, gone_on.told, gone_on.opening) == (("me", "you"), "", 0)
    study = GameTree.of(played)
    study.surrender = None
    assert study.played(("me", "you")).players == ("me", "you"), "the game goes on"


def test_a_thought_tells_what_the_search_has_found() -> None:
    study = GameTree(GAME, [0, 3, 1, 4])
    thinker = Analyzer(parse_player("uct:simulations=300"), GAME)
    thinker.set_position(study.moves)
    assert SearchResult.of(thinker, study.state) is None
    thinker.choose(None)
    thought = SearchResult.of(thinker, study.state)
    assert thought is not None
    best = thought.candidates[0]
    assert best.action == 2  # completes the row
    assert best.value == 1
    assert -1 <= thought.first_value <= 1
    assert thought.simulations == sum(each.visits for each in thought.candidates)
    legal = np.flatnonzero(GAME.legal_action_mask(study.state))
    assert sorted(each.action for each in thought.candidates) == legal.tolist()
    assert study.search_comment(2, thought).startswith("win rate")
    assert study.search_comment(2, None) == ""


def test_players_without_a_tree_have_no_thoughts() -> None:
    thinker = Analyzer(parse_player("random"), GAME)
    thinker.set_position([])
    assert SearchResult.of(thinker, GAME.initial_state()) is None
