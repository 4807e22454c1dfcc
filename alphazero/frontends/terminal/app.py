"""Play against a player in the terminal: boards are printed, moves and commands are typed.

Input is a move in the game's notation, or one of `commands.COMMANDS`.
"""

import contextlib
import sys
import time
from collections.abc import Callable
from pathlib import Path

from rich.control import Control
from rich.segment import ControlType
from rich.text import Text

from alphazero.errors import AlphaZeroError, GameError, did_you_mean
from alphazero.frontends.terminal.commands import (
    COMMANDS,
    CommandContext,
    CommandResult,
    describe_sides,
    draw,
    run,
)
from alphazero.frontends.terminal.screen import PLAYERS, PlainConsole
from alphazero.frontends.terminal.session import TerminalSession
from alphazero.games.game import win_rate
from alphazero.games.grid import side_of
from alphazero.games.results import describe_end, describe_points, title_of
from alphazero.records.game_files import save_played

ANOTHER = "Another game? [y/N] "

DELAY = 0.5
"""Seconds before "thinks ..." is printed."""

ERASE_LINE = Control((ControlType.CURSOR_UP, 1), (ControlType.ERASE_IN_LINE, 2))


class Terminal:
    """Runs the games of a `TerminalSession`."""

    def __init__(
        self,
        session: TerminalSession,
        console: PlainConsole | None = None,
        read: Callable[[str], str] | None = None,
    ) -> None:
        self.session = session
        self.console = console or PlainConsole()
        self.read = read or input
        self.context = CommandContext(session, self.console)

    def run(self, save: Path | None = None) -> None:
        """Play until the user leaves or wants no other game; then write the games to `save`."""
        session, console = self.session, self.console
        session.save = save
        has_user = any(session.sides)
        console.print(f"{title_of(session.game)}\n{describe_sides(session)}")
        if has_user:
            if console.is_terminal:
                with contextlib.suppress(ImportError):
                    import readline  # noqa: F401  (line editing and history)
            console.print("  Type a move, or: hint, undo, level, save; help lists all.")
        try:
            is_running = True
            while is_running:
                if session.game_tree.is_over:
                    draw(self.context)
                    console.print(self._result())
                    is_running = has_user and self._read_until_change(self._after_the_game)
                elif session.is_users_turn:
                    draw(self.context)
                    is_running = self._read_until_change(self._on_the_turn)
                else:
                    self._let_player_move()
        finally:
            session.opponent.player.close()
            played = session.played()
            if save and played:
                save_played(save, played)

    def _read_until_change(self, read_line: Callable[[], CommandResult | None]) -> bool:
        """Read input until the position changes; return False when the user leaves."""
        while (result := read_line()) is None:
            pass
        return result is CommandResult.PLAY

    def _on_the_turn(self) -> CommandResult | None:
        game_tree = self.session.game_tree
        text = self._ask(f"{side_of(game_tree.game, game_tree.to_play)} to move: ")
        try:
            game_tree.make(game_tree.game.parse_action(game_tree.state, text))
            return CommandResult.PLAY
        except GameError as error:
            return self._command(text, f"{error}")

    def _after_the_game(self) -> CommandResult | None:
        try:
            text = self._ask(ANOTHER)
        except AlphaZeroError:
            return CommandResult.LEAVE
        if text.lower() in ("", "n", "no"):
            return CommandResult.LEAVE
        if text.lower() in ("y", "yes"):
            text = "new"
        return self._command(text, "type y for another game, n to leave, or a command such as undo")

    def _command(self, text: str, message: str) -> CommandResult | None:
        """Run a command; `message` is printed for an unknown one."""
        word, _, argument = (text or "help").partition(" ")
        word = word.lower()
        try:
            if word in COMMANDS:
                return run(self.context, word, argument.strip())
            self.console.print(f"{message}{did_you_mean(word, COMMANDS)}")
        except AlphaZeroError as error:
            self.console.print(f"{error}")
        return None

    def _let_player_move(self) -> None:
        console, player = self.console, self.session.game_tree.to_play
        side, start, is_announced = side_of(self.session.game, player), time.monotonic(), False

        def announce() -> None:
            nonlocal is_announced
            if console.is_terminal and not is_announced and time.monotonic() - start > DELAY:
                console.print(f"{side} thinks ...", style="dim")
                is_announced = True

        answer = self.session.make_opponents_move(announce)
        if is_announced:
            console.control(ERASE_LINE)
        if answer is None:
            reason = self.session.game_tree.forfeit_reason
            console.print(f"{side} forfeits: {reason}" if reason else f"{side} resigns.")
            return
        name, result = answer
        move = Text(f"{side} plays {name}", PLAYERS[player])
        if result:
            move = Text.assemble(move, f" (win rate {win_rate(result.value):.0%}, {result.size})")
        console.print(move)

    def _result(self) -> Text:
        game_tree, winner = self.session.game_tree, self.session.game_tree.winner
        game, state = game_tree.game, game_tree.state
        by_rules = game_tree.loser is None
        points = describe_points(game, state) if by_rules else ""
        if winner is None:
            return Text(f"{describe_end(game, state)}{points}.")
        name, you = game.side_names[winner], " (you)" if self.session.sides[winner] else ""
        result = describe_end(game, state).removeprefix(name) if by_rules else " wins"
        return Text(f"{name}{you}{result}{points}.", PLAYERS[winner])

    def _ask(self, prompt: str) -> str:
        """Return a line of input; raise AlphaZeroError at the end of the input."""
        try:
            return self.read(prompt).strip()
        except UnicodeDecodeError:
            return "\N{REPLACEMENT CHARACTER}"
        except (EOFError, OSError, RuntimeError):  # OSError, RuntimeError: no standard input
            if sys.stdin is not None and sys.stdin.isatty():
                self.console.print()
                return "quit"
            raise AlphaZeroError(
                "no more input: type moves in a terminal, or pipe them in, one per line, with "
                "'quit' at the end"
            ) from None
