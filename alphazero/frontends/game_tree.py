"""A game that is looked at while it is played: moves made, taken back, made again, and branches.

Nothing that was ever played is lost by going back: the moves form a tree, and every position
remembers the line that was last followed from it.
"""

import dataclasses
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any, Final, NamedTuple

import numpy as np

from alphazero.frontends.analyzer import EVERY, Analyzer, Candidate
from alphazero.games.game import ONGOING, PLY, Game, State, to_play, value_of
from alphazero.records.played_game import PlayedGame
from alphazero.records.sgf_export import search_comment, value_in

PERSON: Final = "person"
"""How someone who plays is called in files."""


@dataclass(frozen=True)
class SearchResult:
    """What a search has found of a position."""

    value: float
    """of the position, for the player to move, from -1 to 1"""
    first_value: float
    """the bare network's, or one rollout's, for the same player; exact once it is proven"""
    simulations: int
    """visits of its moves together"""
    candidates: list[Candidate]
    """every legal move, the best first"""

    @classmethod
    def of(cls, thinker: Analyzer, state: State, lines: int = EVERY) -> "SearchResult | None":
        """Return what `thinker` knows of `state`, which it is shown; None if it never looked.

        `lines` are as in `Analyzer.candidates`.
        """
        roots = thinker.roots if thinker.searches else None
        if roots is None:
            return None
        candidates = thinker.candidates(state, lines)
        return cls(
            float(roots.values[0]),
            thinker.first_value,
            sum(candidate.visits for candidate in candidates),
            candidates,
        )

    def share(self, candidate: Candidate) -> float:
        """Return how much of the search went into one of its moves, from 0 to 1."""
        return candidate.visits / max(self.simulations, 1)


@dataclass(eq=False)
class GameNode:
    """A position of the tree."""

    state: State
    action: int | None = None
    """the move that led here; None at the root"""
    parent: "GameNode | None" = None
    children: list["GameNode"] = field(default_factory=list)
    """in the order in which they were first tried"""
    last_child: "GameNode | None" = None
    """the child that was visited last"""
    thought: SearchResult | None = None
    """what was last found out about it"""
    comment: str = ""
    """what is said of the move that led here"""

    @property
    def ply(self) -> int:
        """How many moves led here."""
        return int(self.state[PLY])


class Resignation(NamedTuple):
    """A game that somebody gave up."""

    node: GameNode
    """where"""
    player: int
    """who"""
    fault: str
    """what went wrong with the player; empty: it resigned"""


class GameTree:
    """A tree of moves, and the position that is looked at."""

    def __init__(self, game: Game, actions: Sequence[int] = ()) -> None:
        """Begin with these moves on the board.

        Raises:
            GameError: at the first illegal one.
        """
        self.game = game
        self.size = 1
        """How many positions it has."""
        self.root = self.here = GameNode(game.initial_state())
        self.surrender: Resignation | None = None
        self._read: PlayedGame | None = None
        """the game that was read from a file, if one was"""
        self._read_end = self.root
        """its last position"""
        for action in actions:
            self.make(action)

    @classmethod
    def of(cls, played: PlayedGame) -> "GameTree":
        """Return a game that was played, as it ended."""
        study = cls(played.game)
        comments = played.comments or ("",) * len(played.actions)
        for action, comment in zip(played.actions, comments, strict=True):
            study.make(action, comment)
        if (played.resigned or played.forfeit_reason) and played.outcome != ONGOING:
            study.resign(0 if value_of(played.outcome, 0) < 0 else 1, played.forfeit_reason)
        study._read, study._read_end = played, study.here
        return study

    @property
    def source(self) -> PlayedGame | None:
        """The game that was read from a file, as long as `line` is that and ends as that."""
        read, end = self._read, self.line[-1]
        if read is None or end is not self._read_end:
            return None
        gave_up = (read.resigned or bool(read.forfeit_reason)) and read.outcome != ONGOING
        return read if gave_up == (self._given_up_at(end) is not None) else None

    @property
    def state(self) -> State:
        """The position that is looked at."""
        return self.here.state

    @property
    def to_play(self) -> int:
        """Whose turn it is there."""
        return to_play(self.state)

    @property
    def outcome(self) -> int:
        """The game's outcome there, or ONGOING."""
        return self._outcome_at(self.here)

    @property
    def loser(self) -> int | None:
        """Who gave the game up there, if somebody did."""
        given_up = self._given_up_at(self.here)
        return given_up.player if given_up else None

    @property
    def is_over(self) -> bool:
        """Whether the game has ended there."""
        return self.outcome != ONGOING

    @property
    def moves(self) -> list[int]:
        """The moves that lead from the first position to this one."""
        return [node.action for node in self.path if node.action is not None]

    @property
    def path(self) -> list[GameNode]:
        """The positions from the first to this one, both included."""
        nodes = [self.here]
        while nodes[-1].parent is not None:
            nodes.append(nodes[-1].parent)
        return nodes[::-1]

    @property
    def line(self) -> list[GameNode]:
        """The same, and those after it that were followed last."""
        nodes = self.path
        while nodes[-1].last_child is not None:
            nodes.append(nodes[-1].last_child)
        return nodes

    def make(self, action: int, comment: str = "") -> None:
        """Make a move: go on along it if it was tried before, else begin a branch.

        Raises:
            GameError: when it is not legal.
        """
        known = next((node for node in self.here.children if node.action == action), None)
        if known is None:
            known = GameNode(self.game.play(self.state, action), action, self.here, comment=comment)
            self.here.children.append(known)
            self.size += 1
        known.comment = comment or known.comment
        self.here.last_child = known
        self.here = known

    @property
    def fault(self) -> str:
        """What went wrong with who gave up there; empty where nobody did, or resigned."""
        given_up = self._given_up_at(self.here)
        return given_up.fault if given_up else ""

    @property
    def winner(self) -> int | None:
        """Who won there; nobody in a draw, and while the game goes on."""
        outcome = self.outcome
        if outcome in (0, ONGOING):
            return None
        return 0 if value_of(outcome, 0) > 0 else 1

    def resign(self, player: int, fault: str = "") -> None:
        """Let a player resign here, or lose by what went wrong."""
        self.surrender = Resignation(self.here, player, fault)

    def undo(self) -> bool:
        """Go back one move; return whether there was one."""
        return self.go_to(self.here.ply - 1)

    def redo(self) -> bool:
        """Go on one move along the line that was followed last; return whether there was one."""
        return self.go_to(self.here.ply + 1)

    def go_to(self, ply: int) -> bool:
        """Go to the position after so many moves of `line`; return whether it has so many."""
        line = self.line
        if not 0 <= ply < len(line):
            return False
        self.here = line[ply]
        return True

    def search_comment(self, action: int, thought: SearchResult | None) -> str:
        """Say what was thought before a move here, for a file; nothing where there was nothing."""
        if thought is None:
            return ""
        visits = np.zeros(self.game.num_actions, np.int64)
        for candidate in thought.candidates:
            visits[candidate.action] = candidate.visits
        policy: Any = visits / max(visits.sum(), 1)
        return search_comment(self.game, self.state, action, thought.value, policy, visits)

    def name(self, node: GameNode) -> str:
        """Return the name of the move that led to a position, which is not the first."""
        assert node.parent is not None
        assert node.action is not None
        return self.game.action_name(node.parent.state, node.action)

    def value(self, node: GameNode) -> float | None:
        """Return what is known of a position's value for player 0, from -1 to 1.

        It is exact at the end of the game, else what was thought there, or what a comment tells
        of that, else what was thought of the move that led there.
        """
        outcome = self._outcome_at(node)
        if outcome != ONGOING:
            return float(value_of(outcome, 0))
        if node.thought:
            return value_of(1, to_play(node.state)) * node.thought.value
        for child in node.children:
            told = value_in(child.comment)
            if told is not None:
                return value_of(1, to_play(node.state)) * told
        before = node.parent
        if before and before.thought:
            for each in before.thought.candidates:
                if each.action == node.action and each.visits:
                    return value_of(1, to_play(before.state)) * each.value
        return None

    def played(self, players: tuple[str, str]) -> PlayedGame:
        """Return the whole `line` as a game of these two, or of those in its `source`."""
        line = self.line
        if self.source:
            comments = tuple(node.comment for node in line[1:])
            return dataclasses.replace(self.source, comments=comments if any(comments) else ())
        played = PlayedGame(
            self.game,
            players,
            tuple(node.action for node in line if node.action is not None),
            self._outcome_at(line[-1]),
            comments=tuple(node.comment for node in line[1:]),
        )
        given_up = self._given_up_at(line[-1])
        if given_up:
            fault = given_up.fault
            played = dataclasses.replace(played, resigned=not fault, forfeit_reason=fault)
        return played

    def _given_up_at(self, node: GameNode) -> Resignation | None:
        return self.surrender if self.surrender and self.surrender.node is node else None

    def _outcome_at(self, node: GameNode) -> int:
        given_up = self._given_up_at(node)
        # The outcome whose value for who gave up is -1: `value_of` undoes itself.
        return value_of(-1, given_up.player) if given_up else self.game.outcome(node.state)
