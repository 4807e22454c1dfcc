"""Saved games replayed in the terminal: all at once, or a position at a time."""

from collections.abc import Callable, Sequence

from alphazero.errors import PlayerError
from alphazero.games.game import ONGOING
from alphazero.games.grid import SIGNS
from alphazero.records.played_game import RESULTS, PlayedGame
from alphazero.utils.files import printable

PROMPT = "Enter: next position; n: next game; q: quit "


def replay(
    games: Sequence[PlayedGame],
    chosen: int | None = None,
    read: Callable[[str], str] | None = None,
    say: Callable[[str], None] = print,
) -> None:
    """Show every game, or the one whose number, from 1, is `chosen`.

    With `read` each position waits for a line from it; without, all are shown at once.

    Raises:
        PlayerError: when there is no game of that number.
    """
    if chosen is not None and not 1 <= chosen <= len(games):
        raise PlayerError(f"there is no game {chosen}; the file holds games 1 to {len(games):,}")
    numbers = range(1, len(games) + 1) if chosen is None else [chosen]
    for number in numbers:
        game = games[number - 1]
        say(f"game {number:,} of {len(games):,}, {headline(game)}")
        if not _show_positions(game, read, say):
            return


def headline(game: PlayedGame) -> str:
    """Say who played and how it ended, in one line."""
    first, second = map(printable, game.players)
    how = " by resignation" if game.resigned else ""
    if game.forfeit_reason:
        how = f" by adjudication ({printable(game.forfeit_reason)})"
    result = "unfinished" if game.outcome == ONGOING else RESULTS[game.outcome]
    return f"{first} against {second}: {result}{how}, {len(game.actions)} moves"


def _show_positions(
    game: PlayedGame, read: Callable[[str], str] | None, say: Callable[[str], None]
) -> bool:
    """Show each position of a game; return whether to go on with the next game."""
    moves = game.moves()
    for ply, state in enumerate(game.states()):
        if ply:
            mover = (ply - 1) % 2
            side = f"{SIGNS[mover + 1]} {printable(game.players[mover])}"
            opening = " (opening)" if ply <= game.opening else ""
            comment = game.comments[ply - 1] if game.comments else ""
            say(f"{ply}. {side}: {moves[ply - 1]}{opening}" + (f"  {comment}" if comment else ""))
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
