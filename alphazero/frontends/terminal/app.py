"""Play against a player in the terminal: boards are printed, moves and commands are typed.

Input is a move in the game's notation, or one of `commands.COMMANDS`.
"""

import contextlib
import sys
import time
from collections.abc import Callable
from pathlib import Path

from alphazero.errors import AlphaZeroError, GameError, PlayerError, did_you_mean
from alphazero.frontends.terminal.commands import COMMANDS, describe_sides, draw
from alphazero.frontends.terminal.screen import DIM, ERASE_LINE, PLAYERS, Screen
from alphazero.frontends.terminal.session import TerminalSession
from alphazero.games.game import value_of, win_rate
from alphazero.games.grid import side_of
from alphazero.games.results import describe_end, describe_points, title_of
from alphazero.records.game_files import save_played

ANOTHER = "Another game? [y/N] "

DELAY = 0.5
"""Seconds before "thinks ..." is printed."""


class Terminal:
    """Runs the games of a `TerminalSession`."""

    def __init__(
        self,
        session: TerminalSession,
        screen: Screen | None = None,
        read: Callable[[str], str] | None = None,
    ) -> None:
        self.session = session
        self.screen = screen or Screen()
        self.read = read or input

    def run(self, save: Path | None = None) -> None:
        """Play until the user leaves or wants no other game; then write the games to `save`."""
        session, screen = self.session, self.screen
        has_user = any(session.sides)
        screen.print(f"{title_of(session.game)}\n{describe_sides(session)}")
        if has_user:
            if screen.is_terminal:
                with contextlib.suppress(ImportError):
                    import readline  # noqa: F401  (line editing and history)
            screen.print("  Type a move, or: hint, undo, level, save; help lists all.")
        try:
            is_running = True
            while is_running:
                if session.game_tree.is_over:
                    draw(session, screen)
                    screen.print(self._result())
                    is_running = has_user and self._read_until_change(self._after_the_game)
                elif session.is_users_turn:
                    draw(session, screen)
                    is_running = self._read_until_change(self._on_the_turn)
                else:
                    self._let_player_move()
        finally:
            session.opponent.player.close()
            played = session.played()
            if save and played:
                save_played(save, played)

    def _read_until_change(self, read_line: Callable[[], bool | None]) -> bool:
        """Read input until the position changes; return False when the user leaves."""
        while (result := read_line()) is None:
            pass
        return result

    def _on_the_turn(self) -> bool | None:
        game_tree = self.session.game_tree
        text = self._ask(f"{side_of(game_tree.game, game_tree.to_play)} to move: ")
        try:
            game_tree.make(game_tree.game.parse_action(game_tree.state, text))
            return True
        except GameError as error:
            return self._command(text, f"{error}")

    def _after_the_game(self) -> bool | None:
        try:
            text = self._ask(ANOTHER)
        except AlphaZeroError:
            return False
        if text.lower() in ("", "n", "no"):
            return False
        if text.lower() in ("y", "yes"):
            text = "new"
        return self._command(text, "type y for another game, n to leave, or a command such as undo")

    def _command(self, text: str, message: str) -> bool | None:
        """Run a command; `message` is printed for an unknown one."""
        word, _, argument = (text or "help").partition(" ")
        word, argument = word.lower(), argument.strip()
        try:
            if word not in COMMANDS:
                raise PlayerError(f"{message}{did_you_mean(word, COMMANDS)}")
            if argument and not COMMANDS[word].takes:
                raise PlayerError(f"{word} takes no argument; got {argument[:20]!r}")
            return COMMANDS[word].run(self.session, self.screen, argument)
        except AlphaZeroError as error:
            self.screen.print(f"{error}")
        return None

    def _let_player_move(self) -> None:
        screen, player = self.screen, self.session.game_tree.to_play
        side, start, is_announced = side_of(self.session.game, player), time.monotonic(), False

        def announce() -> None:
            nonlocal is_announced
            if screen.is_terminal and not is_announced and time.monotonic() - start > DELAY:
                screen.print(screen.paint(f"{side} thinks ...", DIM))
                is_announced = True

        answer = self.session.make_opponents_move(announce)
        if is_announced:
            screen.print(ERASE_LINE, end="")
        if answer is None:
            reason = self.session.game_tree.current.forfeit_reason
            screen.print(f"{side} forfeits: {reason}" if reason else f"{side} resigns.")
            return
        name, result = answer
        search = f" (win rate {win_rate(result.value):.0%}, {result.size})" if result else ""
        screen.print(screen.paint(f"{side} plays {name}", PLAYERS[player]) + search)

    def _result(self) -> str:
        game_tree = self.session.game_tree
        game, state, outcome = game_tree.game, game_tree.state, game_tree.outcome
        by_rules = game_tree.current.loser is game_tree.current.told is None
        points = describe_points(game, state) if by_rules else ""
        if outcome == 0:
            return f"A draw{points}."
        winner = 0 if value_of(outcome, 0) > 0 else 1
        name, you = game.side_names[winner], " (you)" if self.session.sides[winner] else ""
        result = describe_end(game, state).removeprefix(name) if by_rules else " wins"
        return self.screen.paint(f"{name}{you}{result}{points}.", PLAYERS[winner])

    def _ask(self, prompt: str) -> str:
        """Return a line of input; raise AlphaZeroError at the end of the input."""
        try:
            return self.read(prompt).strip()
        except UnicodeDecodeError:
            return "\N{REPLACEMENT CHARACTER}"
        except (EOFError, OSError, RuntimeError):  # OSError, RuntimeError: no standard input
            if sys.stdin is not None and sys.stdin.isatty():
                self.screen.print("")
                return "quit"
            raise AlphaZeroError(
                "no more input: type moves in a terminal, or pipe them in, one per line, with "
                "'quit' at the end"
            ) from None
