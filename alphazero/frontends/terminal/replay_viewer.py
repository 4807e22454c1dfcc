"""Replays saved games in the terminal, all at once or step by step."""

from collections.abc import Callable, Sequence

from alphazero.games.game import to_play
from alphazero.games.grid import side_of
from alphazero.records.played_game import PlayedGame, select_games
from alphazero.utils.files import printable

PROMPT = "Enter: next position; n: next game; q: quit "


def replay(
    games: Sequence[PlayedGame],
    only: int | None = None,
    read: Callable[[str], str] | None = None,
    say: Callable[[str], None] = print,
) -> None:
    """Print all games, or the one with the number `only`, from 1.

    With `read`, each position waits for a line from it. Raise PlayerError when there is no such
    game.
    """
    last = max(select_games(games, None))
    for number, game in select_games(games, only).items():
        say(f"game {number:,} of {last:,}, {game.headline()}")
        if not _show_positions(game, read, say):
            return


def _show_positions(
    game: PlayedGame, read: Callable[[str], str] | None, say: Callable[[str], None]
) -> bool:
    """Print each position of a game; return whether to continue with the next game."""
    states = game.states()
    for ply, state in enumerate(states):
        if ply:
            move = game.game.action_name(states[ply - 1], game.actions[ply - 1])
            mover = 1 - to_play(state)
            side = f"{side_of(game.game, mover)} {printable(game.players[mover])}"
            opening = " (opening)" if ply <= game.opening else ""
            comment = game.comments[ply - 1].replace("\n", "\n  ") if game.comments else ""
            say(f"{ply}. {side}: {move}{opening}" + (f"  {comment}" if comment else ""))
        say("\n" + game.game.render(state) + "\n")
        if read is not None:
            try:
                word = read(PROMPT).strip().lower()
            except (EOFError, UnicodeDecodeError):
                return False
            if word in ("q", "quit"):
                return False
            if word in ("n", "next"):
                return True
    return True
