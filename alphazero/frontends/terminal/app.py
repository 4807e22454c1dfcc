"""Play against a player in the terminal: boards are printed, moves and commands are typed.

Input is a move in the game's notation, or one of `commands.COMMANDS`.
"""

import contextlib
import functools
import sys
import time
from collections.abc import Callable
from pathlib import Path

from alphazero.errors import AlphaZeroError, GameError, did_you_mean
from alphazero.frontends.terminal.commands import (
    COMMANDS,
    CommandContext,
    CommandResult,
    drawn,
    run,
    seats,
)
from alphazero.frontends.terminal.screen import PLAYERS, Screen
from alphazero.frontends.terminal.session import TerminalSession
from alphazero.frontends.terminal.views import sign_of
from alphazero.games.registry import write_game
from alphazero.records.game_files import save_played

ANOTHER = "Another game? [y/N] "

PATIENCE = 0.5
"""Delay, in seconds, before "thinks ..." is printed."""


class Terminal:
    """Runs the games of a `TerminalSession`."""

    def __init__(
        self,
        session: TerminalSession,
        screen: Screen | None = None,
        read: Callable[[str], str] | None = None,
        say: Callable[[str], None] | None = None,
    ) -> None:
        """Without a `screen`, output is plain text."""
        self.session = session
        self.screen = screen or Screen()
        self.read = read or input
        self.say = say or functools.partial(print, flush=True)
        self.desk = CommandContext(session, self.screen, self.say)

    def run(self, save: Path | None = None) -> None:
        """Play until the user leaves or wants no other game; then write the games to `save`."""
        session = self.session
        asks = any(session.sides)
        self.say(f"{write_game(session.game)}\n{seats(session)}")
        if asks and self.screen.live:
            with contextlib.suppress(ImportError):
                import readline  # noqa: F401  (line editing and history)
        if asks:
            self.say("  Type a move, or: hint, undo, level, analyze, tree, save; help lists all.")
        try:
            going = True
            while going:
                if session.is_over:
                    self.say(drawn(self.desk))
                    self.say(self._result())
                    going = asks and self._attend(self._after_the_game)
                elif session.persons_turn:
                    self.say(drawn(self.desk))
                    going = self._attend(self._on_the_turn)
                else:
                    self._let_player_move()
        finally:
            session.close()
            played = session.played()
            if save and played:
                save_played(save, played)

    def _attend(self, take: Callable[[], CommandResult]) -> bool:
        """Read input until the position changes; return False when the user leaves."""
        while (following := take()) is CommandResult.ASK:
            pass
        return following is CommandResult.PLAY

    def _on_the_turn(self) -> CommandResult:
        game_tree = self.session.game_tree
        text = self._ask(f"{sign_of(game_tree.to_play)} to move: ").strip()
        try:
            game_tree.make(game_tree.game.parse_action(game_tree.state, text))
            return CommandResult.PLAY
        except GameError as error:
            return self._command(text, f"{error}")

    def _after_the_game(self) -> CommandResult:
        try:
            text = self._ask(ANOTHER).strip()
        except AlphaZeroError:
            return CommandResult.LEAVE
        word = text.lower()
        if word in ("y", "yes"):
            word = text = "new"
        if word in ("", "n", "no"):
            return CommandResult.LEAVE
        return self._command(text, "type y for another game, n to leave, or a word such as undo")

    def _command(self, text: str, otherwise: str) -> CommandResult:
        """Run a command; `otherwise` is the message for an unknown one."""
        word, _, rest = (text or "help").partition(" ")
        word = word.lower()
        if word not in COMMANDS:
            self.say(f"{otherwise}{did_you_mean(word, COMMANDS)}")
            return CommandResult.ASK
        try:
            return run(self.desk, word, rest.strip())
        except AlphaZeroError as error:
            self.say(f"{error}")
            return CommandResult.ASK

    def _let_player_move(self) -> None:
        player = self.session.to_play
        side, began, told = sign_of(player), time.monotonic(), False

        def watch() -> None:
            nonlocal told
            if self.screen.live and not told and time.monotonic() - began > PATIENCE:
                self.say(self.screen.paint(f"{side} thinks ...", "faint"))
                told = True

        answer = self.session.answer(watch)
        over = self.screen.over(1) if told else ""
        if answer is None:
            fault = self.session.game_tree.fault
            self.say(f"{over}{side} gives up: {fault}" if fault else f"{over}{side} resigns.")
            return
        name, thought = answer
        thoughts = ""
        if thought:
            simulations = f"{thought.simulations:,} simulations"
            thoughts = f" (value {thought.value:+.2f} for {side}, {simulations})"
        self.say(f"{over}{self.screen.paint(f'{side} plays {name}', PLAYERS[player])}{thoughts}")

    def _result(self) -> str:
        winner = self.session.game_tree.winner
        if winner is None:
            return "The game is a draw."
        whose = " (you)" if self.session.sides[winner] else ""
        return self.screen.paint(f"{sign_of(winner)}{whose} wins.", PLAYERS[winner])

    def _ask(self, prompt: str) -> str:
        """Return a line of input; raise AlphaZeroError at the end of the input."""
        typed, self.desk.typed = self.desk.typed, None
        if typed is not None:
            self.say(f"{prompt}{typed}")
            return typed
        try:
            return self.read(prompt)
        except UnicodeDecodeError:
            return "\N{REPLACEMENT CHARACTER}"
        except (EOFError, RuntimeError):  # RuntimeError: no standard input
            if sys.stdin is not None and sys.stdin.isatty():
                self.say("")
                return "quit"
            raise AlphaZeroError(
                "no more input: moves are typed in a terminal, or piped in one a line and "
                "ended by 'quit'"
            ) from None
