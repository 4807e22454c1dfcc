"""Players that count out, in a match like any other."""

import numpy as np
import pytest

from alphazero.arena.elo import match_result
from alphazero.arena.match import play_schedule
from alphazero.arena.openings import paired_openings
from alphazero.games import Game, make_game
from alphazero.games.connect_four import ConnectFour
from alphazero.games.mnk import Mnk
from alphazero.games.nim import LEFT, Nim
from alphazero.players import solver_players
from alphazero.players.base import Player
from alphazero.players.registry import parse_player
from alphazero.players.solver_players import MinimaxPlayer, SolverPlayer
from alphazero.records.game_record import GameRecord
from alphazero.solvers.exhaustive import solve_all_positions


def contest(game: Game, name: str, games: int, seed: int = 0) -> list[GameRecord]:
    """Let a player, as player number 0, play games against random moves."""
    rng = np.random.default_rng(seed)
    players = [parse_player(name), parse_player("random")]
    pairings = paired_openings(game, games, 1, rng)

    def make_players(slots: int) -> list[Player]:
        return [player.create(game, slots, rng.spawn(1)[0]) for player in players]

    return play_schedule(game, make_players, pairings, 5)


@pytest.mark.parametrize("name", ["solver", "minimax:9"])
def test_a_player_that_searches_to_the_end_makes_no_mistake_in_tic_tac_toe(name: str):
    game = Mnk()
    solution = solve_all_positions(game)
    answers = {
        state.tobytes(): optimal
        for state, optimal in zip(solution.states, solution.optimal, strict=True)
    }
    records = contest(game, name, 20)
    assert match_result(game, records).losses == 0
    for record in records:
        state = game.initial_state()
        for ply, action in enumerate(map(int, record.actions)):
            if record.pairing.players[ply % 2] == 0 and ply >= len(record.pairing.opening):
                assert answers[state.tobytes()][action]
            state = game.play(state, action)


@pytest.mark.parametrize("name", ["solver", "minimax:15"])
def test_nim_is_won_wherever_the_closed_form_says_so(name: str):
    """The first random move may give the game away, and the random player again."""
    game = Nim()
    for record in contest(game, name, 20):
        state, winning = game.initial_state(), False
        for ply, action in enumerate(map(int, record.actions)):
            if record.pairing.players[ply % 2] == 0 and ply >= len(record.pairing.opening):
                winning |= int(state[LEFT]) % 4 != 0
            state = game.play(state, action)
        if winning:
            assert match_result(game, [record]).wins == 1


def test_a_ply_is_looked_at_however_short_the_time():
    game = make_game("gomoku", rows=8, columns=8)
    player = MinimaxPlayer(game, 1, np.random.default_rng(0), seconds=1e-9)
    state = game.from_moves("a1 h8 a2 h7 a3 h6 a4 h5")
    assert game.action_name(state, player.choose(state)) == "a5"


@pytest.mark.parametrize("name", ["minimax:2", "solver"])
def test_the_same_seed_plays_the_same_games(name: str):
    game = ConnectFour(4, 4, 4)
    first, again, other = (contest(game, name, 6, seed) for seed in (1, 1, 2))
    actions = [[record.actions.tolist() for record in games] for games in (first, again, other)]
    assert actions[0] == actions[1] != actions[2]


def test_the_seed_decides_between_moves_that_are_alike():
    game = Mnk()
    state = game.from_moves("b2")
    for name in ("solver", "minimax:1"):
        spec, generators = parse_player(name), map(np.random.default_rng, range(16))
        assert {spec.create(game, 1, rng).choose(state) for rng in generators} == {0, 2, 6, 8}


def test_the_solver_wins_at_once_and_holds_out_when_it_is_lost():
    """After b1 X has a double threat to come, but a2 must be answered first."""
    game = Mnk()
    player = SolverPlayer(game, 1, np.random.default_rng(0))
    for moves, best in (("a1 b1 a3", "a2"), ("a1 b1 a3 b3", "a2"), ("a1 b2 a2 b3", "a3")):
        state = game.from_moves(moves)
        for _ in range(5):
            assert game.action_name(state, player.choose(state)) == best


def test_a_game_too_large_to_solve_is_played_by_looking_ahead(monkeypatch):
    monkeypatch.setattr(solver_players, "SOLVER_POSITIONS", 1_000)
    game = make_game("gomoku", rows=8, columns=8)
    player = SolverPlayer(game, 1, np.random.default_rng(0))
    state = game.from_moves("a1 h8 a2 h7 a3 h6 a4 c5")
    assert game.action_name(state, player.choose(state)) == "a5"
    state = game.from_moves("b2 h8 a2 h7 a3 h6 a4")
    assert game.action_name(state, player.choose(state)) in {"h5", "a5", "a1"}


def test_values_are_the_movers():
    game = ConnectFour()
    for name in ("solver", "minimax:3"):
        player, slots = parse_player(name).create(game, 2), np.array([0, 1])
        won, lost = game.from_moves("112233"), game.from_moves("4453")
        player.reset(slots, np.array([won, lost]))
        player.advance(slots[1:], np.array([game.parse_action(lost, "3")]))
        player.begin_moves(slots)
        answers: dict[int, float] = {}
        while len(answers) < 2:
            player.step()
            decisions = player.take_decisions()
            answers.update(zip(decisions.slots.tolist(), decisions.values.tolist(), strict=True))
            assert (decisions.policy_shares.sum(axis=1) == 1).all()
        assert answers[0] == 1
        assert answers[1] < 1


def test_a_question_is_void_when_its_slot_begins_anew():
    game = Nim()
    player = SolverPlayer(game, 3, np.random.default_rng(0))
    slots, states = np.arange(3), np.tile(game.initial_state(), (3, 1))
    player.reset(slots, states)
    player.begin_moves(slots)
    player.step()
    player.reset(slots[:2], states[:2])
    for _ in range(100):
        player.step()
    assert player.take_decisions().slots.tolist() == [2]
