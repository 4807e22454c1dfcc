"""The tree of moves behind the faces: taken back, made again, branched."""

import dataclasses
import warnings

from alphazero.frontends.game_tree import GameTree
from alphazero.games import make_game
from alphazero.games.game import ONGOING
from alphazero.players.position_search import Candidate, SearchResult
from alphazero.records.game_files import read_played
from alphazero.records.pgn import to_pgn
from alphazero.records.played_game import PlayedGame, Variation

GAME = make_game("tic_tac_toe")


def test_the_value_of_a_position_is_the_first_players_and_the_best_that_is_known():
    game_tree = GameTree(GAME)
    for action in (0, 3, 1):
        game_tree.make(action)
    first, middle, here = game_tree.current.path[1:]
    assert game_tree.name(here) == GAME.action_name(middle.state, 1)
    assert [game_tree.value(node) for node in game_tree.line] == [None] * 4
    first.search_result = SearchResult(
        GAME, GAME.initial_state(), -0.5, 0.0, 10, [Candidate(3, 10, 0.25, 1.0, [3])]
    )
    assert game_tree.value(first) == 0.5, "the search was for the second player, to move"
    assert game_tree.value(middle) == -0.25, "the result of the move that led there"
    here.comment = "win rate 90% (value +0.80), policy 40%"
    assert game_tree.value(middle) == 0.8, "a file says it, of the move from there"
    middle.search_result = SearchResult(GAME, GAME.initial_state(), 0.75, 0.0, 10, [])
    assert game_tree.value(middle) == 0.75, "its own search is newer"
    game_tree.resign(1)
    assert game_tree.value(here) == 1


def test_a_position_where_the_game_goes_on_was_not_resigned():
    game_tree = GameTree(GAME)
    game_tree.make(0)
    game_tree.resign(1)
    assert game_tree.is_over
    game_tree.make(3)
    game_tree.go_to(1)
    assert not game_tree.is_over
    assert len(game_tree.line) == 3


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


def test_variations_tags_and_remark_are_written_with_a_game_that_goes_on():
    text = """[Event "Club"]
[Date "2020.01.02"]
[WhiteElo "2700"]
[Termination "Time forfeit"]

{A remark} 1. e4 e5 (1... c5 2. Nf3 {Sicilian} (2. Nc3)) 2. Nf3 *"""
    played = read_played(text.encode(), warnings.warn)[0]
    game_tree = GameTree.of(played)
    assert game_tree.played(("me", "you")) == played
    tried, made = (game_tree.game.parse_action(game_tree.state, name) for name in ("Nc6", "d6"))
    game_tree.make(tried)
    game_tree.go_to(3)
    assert game_tree.source is None
    game_tree.make(made)
    saved = to_pgn(game_tree.played(("me", "you")))
    again = read_played(saved.encode(), warnings.warn)[0]
    assert again.players == ("me", "you")
    assert again.actions == (*played.actions, made)
    assert again.tags == (("Event", "Club"), ("Date", "2020.01.02")), "who plays has changed"
    assert again.remark == "A remark"
    assert again.variations == (*played.variations, Variation(3, (tried,)))
    game_tree.go_to(1)
    game_tree.resign(1)
    assert game_tree.played(("me", "you")).variations == (), "nothing is left to replace"
