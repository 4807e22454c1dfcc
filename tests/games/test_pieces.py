"""Games whose pieces move: the contract, positions as text, and the moves of Fairy-Stockfish."""

import random
from typing import Any

import numpy as np
import pyffish
import pytest
from helpers.games import random_line

from alphazero.errors import GameError
from alphazero.games.breakthrough import Breakthrough, board_of, play
from alphazero.games.chess.game import Chess
from alphazero.games.compiled_rules import Signature
from alphazero.games.contract.check import check_game
from alphazero.games.contract.random_games import SHORT
from alphazero.games.game import ONGOING, OUTCOME, Game, to_play, value_of
from alphazero.games.pieces import PieceGame
from alphazero.games.registry import all_games, read_game, register
from alphazero.utils.jit import kernel

SMALL = "breakthrough:rows=5,columns=4"
GAMES = [Breakthrough(5, 4), Breakthrough(), *(Chess(size) for size in (5, 6, 8))]
every_game = pytest.mark.parametrize("game", GAMES, ids=str)


@kernel(Signature.play)
def play_unturned(state, action):
    play(state, action)
    board = board_of(state)
    board[:] = -board[::-1].copy()


SMALL_GAME, CHESS = Breakthrough(5, 4), Chess(5)
TWO_IN_ONE_PLACE = CHESS.policy_index.copy()
TWO_IN_ONE_PLACE[7] = TWO_IN_ONE_PLACE[8]
BEYOND_THE_PLANES = CHESS.policy_index + 1 + CHESS.policy_planes * 25 // 2
BACKWARDS = CHESS.policy_planes * 25 - 1 - CHESS.policy_index


def turned_cells(self, state):
    return tuple(self.turn_cell(c, to_play(state)) for c in Chess.attacked_cells(self, state))


def exchanged_pieces(self, state):
    return -Breakthrough.pieces(self, state)


def pieces_of_kind_3(self, state):
    return 3 * Breakthrough.pieces(self, state)


BROKEN: dict[str, list[tuple[Game, str, Any, str]]] = {
    "observes_for_the_player_to_move": [
        (SMALL_GAME, "is_turned", False, "first 2 planes are not `pieces`"),
        (SMALL_GAME, "pieces", exchanged_pieces, "first 2 planes are not `pieces`"),
        (SMALL_GAME, "pieces", pieces_of_kind_3, "kind 3; piece_kinds is 'P'"),
    ],
    "gives_the_outcome_for_player_0": [
        (
            SMALL_GAME,
            "rule_functions",
            Breakthrough.rule_functions._replace(play=play_unturned),
            "`play` does not turn the board, or",
        )
    ],
    "moves_stones_as_its_actions_say": [
        (SMALL_GAME, "action_source", Breakthrough.action_cell, "takes no stone of its player")
    ],
    "keeps_its_rules_under_symmetries": [
        (
            SMALL_GAME,
            "initial_state",
            lambda self: self.parse("pppp/pppp/4/PPPP/PPP1"),
            "keeps the initial position",
        )
    ],
    "marks_what_has_won": [
        (CHESS, "attacked_cells", turned_cells, "a piece of the player"),
        (CHESS, "attacked_cells", lambda *_: (np.int64(0),), "np.int64"),
    ],
    "lays_its_actions_on_cells": [
        (CHESS, "policy_index", TWO_IN_ONE_PLACE, "one place for actions 7 and 8"),
        (CHESS, "policy_index", BEYOND_THE_PLANES, "0 to 1224, the last of 49"),
        (CHESS, "policy_index", CHESS.policy_index.tolist(), "policy_index is list [455]"),
        (CHESS, "policy_index", BACKWARDS, "of its plane; expected"),
    ],
}
"""A game, what is wrong about it, and words of the message, by the violated requirement."""


@pytest.mark.parametrize(
    ("requirement", "row"),
    [(requirement, row) for requirement, rows in BROKEN.items() for row in rows],
    ids=lambda item: item[-1] if isinstance(item, tuple) else "",
)
def test_the_check_names_what_is_wrong_about_pieces(requirement: str, row: Any):
    game, name, attribute, words = row
    broken = type("Broken", (type(game),), {name: attribute})(**game.options)
    faults = {fault.requirement: str(fault) for fault in check_game(broken, SHORT // 4).faults}
    assert words in faults[requirement]


def test_a_game_without_kinds_of_pieces_is_refused_where_it_is_written():
    with pytest.raises(TypeError, match="Plain needs piece_kinds, the letters of its pieces"):
        type("Plain", (PieceGame,), {})


@every_game
def test_positions_are_read_from_their_fen_and_moves_as_uci_writes_them(game: Game):
    for state, _ in random_line(game, np.random.default_rng(3))[:60]:
        fen = game.write_fen(state)
        assert game.write_fen(game.parse(game.render(state))) == fen
        assert game.write_fen(game.parse(fen)) == fen
        names = {
            game.move_name(state, action): action
            for action in np.flatnonzero(game.legal_action_mask(state)).tolist()
        }
        assert len(names) == game.legal_action_mask(state).sum()
        assert all(game.parse_action(state, name) == action for name, action in names.items())


def test_a_game_without_a_variant_has_its_own_name_for_other_programs(temporary_games):
    class March(Breakthrough):
        uci_variant = PieceGame.uci_variant

    register("march", rows=5)(March)
    assert "march" in [game.uci_variant for game in all_games() if isinstance(game, PieceGame)]


@pytest.mark.parametrize("name", ["gardner", "los_alamos", "breakthrough"])
@pytest.mark.parametrize(
    "games", [range(3), pytest.param(range(3, 200), marks=pytest.mark.slow)], ids=len
)
def test_random_games_have_the_moves_and_results_of_fairy_stockfish(name: str, games: range):
    """Draws by fifty moves, repetition and material are other rules there, so only games without
    a legal move have their results compared."""
    game = read_game(name)
    variant = game.uci_variant
    for seed in games:
        dice, state = random.Random(seed), game.initial_state()
        while state[OUTCOME] == ONGOING:
            actions = np.flatnonzero(game.legal_action_mask(state)).tolist()
            names = {game.move_name(state, action): action for action in actions}
            theirs = pyffish.legal_moves(variant, game.write_fen(state), [])
            assert sorted(names) == sorted(theirs)
            state = game.play(state, names[dice.choice(sorted(names))])
        fen = game.write_fen(state)
        if not pyffish.legal_moves(variant, fen, []):
            value = np.sign(pyffish.game_result(variant, fen, []))
            assert state[OUTCOME] == value_of(value, to_play(state))
        else:
            assert state[OUTCOME] == 0


def test_the_moves_of_every_column_are_read_with_and_without_a_sign_between():
    game = Breakthrough(5, 26)
    state = game.initial_state()
    for action in np.flatnonzero(game.legal_action_mask(state)).tolist():
        name = game.move_name(state, action)
        for text in (name, f"{name[:2]}-{name[2:]}", f"{name[:2]}x{name[2:]}", name.upper()):
            assert game.parse_action(state, text) == action


@pytest.mark.parametrize(("text", "example"), [("b2b4", "b2b3"), ("D2e3", "d2d3"), ("", "d2d3")])
def test_a_move_that_is_not_legal_is_answered_with_the_most_similar_one(text, example):
    game = Breakthrough(5, 4)
    with pytest.raises(GameError, match=f"'{text}' is no legal move; type one such as {example}"):
        game.parse_action(game.initial_state(), text)


@pytest.mark.parametrize(
    ("name", "fen", "words"),
    [
        (SMALL, "P3/pppp/4/4/4 w", "no game leads to this position"),
        (SMALL, "3P/4/4/4/pp2 w", "no game leads to this position"),
        (SMALL, "3p/4/4/4/4 b", "no game leads to this position"),
        (SMALL, "pppp/pppp/p3/PPPP/PPPP w", "no game leads to this position"),
        (SMALL, "pppp/pppp/4/PPPP/PPPP w - - 0 3", "to this position after 4 moves"),
        ("chess", "8/8/8/8/8/8/8/K6k w - - 0 one", "ends with 'one'; expected the number"),
    ],
)
def test_a_wrong_fen_is_explained(name, fen, words):
    game = read_game(name)
    with pytest.raises(GameError, match=words):
        game.parse(fen)
