"""The tree of moves behind the faces: taken back, made again, branched."""

import dataclasses

from alphazero.frontends.game_tree import GameTree
from alphazero.games import make_game
from alphazero.games.game import ONGOING
from alphazero.players.position_search import Candidate, SearchResult
from alphazero.records.played_game import PlayedGame

GAME = make_game("tic_tac_toe")


def tree_of(*actions: int) -> GameTree:
    """Return a tree with these moves played."""
    game_tree = GameTree(GAME)
    for action in actions:
        game_tree.make(action)
    return game_tree


def test_a_game_that_was_given_up_is_lost_there_only_and_comes_back_so():
    game_tree = tree_of(4, 0)
    game_tree.resign(0)
    assert (game_tree.outcome, game_tree.loser, game_tree.is_over) == (-1, 0, True)
    played = game_tree.played(("A", "B"))
    assert (played.outcome, played.resigned, played.forfeit_reason) == (-1, True, "")
    game_tree.go_to(1)
    assert (game_tree.outcome, game_tree.loser) == (ONGOING, None)
    assert game_tree.played(("A", "B")).resigned, "it ends the line, wherever one looks"
    game_tree.make(8)
    assert game_tree.played(("A", "B")).outcome == ONGOING

    again = GameTree.of(played)
    assert (again.current.moves, again.outcome, again.loser) == ([4, 0], -1, 0)
    faulty = GameTree.of(dataclasses.replace(played, resigned=False, forfeit_reason="it crashed"))
    assert faulty.loser == 0
    assert faulty.played(("A", "B")).forfeit_reason == "it crashed"
    assert not faulty.played(("A", "B")).resigned


def test_the_value_of_a_position_is_the_first_players_and_the_best_that_is_known():
    game_tree = tree_of(0, 3, 1)
    first, middle, here = game_tree.current.path[1:]
    assert game_tree.name(here) == GAME.action_name(middle.state, 1)
    assert [game_tree.value(node) for node in game_tree.line] == [None] * 4
    first.search_result = SearchResult(
        GAME, GAME.initial_state(), -0.5, 0.0, 10, [Candidate(3, 10, 0.25, 1.0, [3])]
    )
    assert game_tree.value(first) == 0.5, "the search was for the second player, to move"
    assert game_tree.value(middle) == -0.25, "the result of the move that led there"
    middle.search_result = SearchResult(GAME, GAME.initial_state(), 0.75, 0.0, 10, [])
    assert game_tree.value(middle) == 0.75, "its own search is newer"
    game_tree.resign(1)
    assert game_tree.value(here) == 1


def test_the_value_that_a_file_gives_a_position_is_known_until_a_search_knows_more():
    comments = ("", "win rate 25% (value -0.50), policy 40%", "win rate 90% (value +0.80)")
    game_tree = GameTree.of(PlayedGame(GAME, ("A", "B"), (0, 3, 1), ONGOING, comments=comments))
    first, second = game_tree.line[1:3]
    assert [game_tree.value(node) for node in game_tree.line] == [None, 0.5, 0.8, None]
    first.search_result = SearchResult(GAME, GAME.initial_state(), 0.25, 0.0, 10, [])
    assert game_tree.value(first) == -0.25
    assert game_tree.value(second) == 0.8


def test_a_game_from_a_file_keeps_its_players_until_it_is_continued_otherwise():
    played = PlayedGame(
        GAME,
        ("Ann", "Bob"),
        (0, 3, 1),
        -1,
        opening=2,
        sgf_result="W+T",
        forfeit_reason="out of time",
    )
    game_tree = GameTree.of(played)
    game_tree.go_to(1)
    assert game_tree.source == game_tree.played(("me", "you")) == played
    game_tree.make(3)  # as in the file
    assert game_tree.source == played
    game_tree.make(8)
    assert game_tree.source is None
    gone_on = game_tree.played(("me", "you"))
    assert (gone_on.players, gone_on.sgf_result, gone_on.opening) == (("me", "you"), "", 2)
    game_tree = GameTree.of(played)
    game_tree.current.loser, game_tree.current.forfeit_reason = None, ""
    assert game_tree.played(("me", "you")).players == ("me", "you"), "the game goes on"
    assert game_tree.loaded_players == ("Ann", "Bob")
    position = dataclasses.replace(played, actions=(), opening=0, outcome=ONGOING)
    assert GameTree.of(position).loaded_players is None
