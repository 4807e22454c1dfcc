"""A game under play or analysis, as a tree of moves.

Each position remembers the child visited last, so that going back deletes nothing.
"""

import dataclasses
from dataclasses import dataclass, field
from typing import Any, Final

from alphazero.games.game import ONGOING, Game, State, to_play, value_of
from alphazero.players.position_search import SearchResult
from alphazero.records.played_game import PlayedGame, Variation, first_state
from alphazero.records.sgf_export import search_comment, value_in

EVENT: Final = "Event", "Site", "Date", "Round", "EV", "PC", "DT", "RO"
"""Tags of PGN and properties of SGF about the event of a game."""

MAX_VARIATION_MOVES: Final = 10_000
"""Moves after which no more variations are written: each repeats those that it shares."""

PERSON: Final = "person"
"""Name of a person among the players, on the page and in files."""


@dataclass(eq=False)
class GameNode:
    """A position of the tree."""

    state: State
    action: int | None = None
    """the move into this position; None at the root"""
    parent: "GameNode | None" = None
    ply: int = 0
    """number of moves from the root"""
    children: list["GameNode"] = field(default_factory=list)
    """in the order of creation"""
    last_child: "GameNode | None" = None
    """child visited last"""
    search_result: SearchResult | None = None
    """latest search result"""
    comment: str = ""
    """comment on the move into this position"""
    is_opening: bool = False
    """whether the move into this position was random, for the opening of a match"""
    is_setup: bool = False
    """whether the move into this position stands for stones that were set up"""
    told: int | None = None
    """the outcome by a loaded file, where the rules end the game with another; dead stones were
    removed there"""
    loser: int | None = None
    """the player who resigned here, or lost by an error"""
    forfeit_reason: str = ""
    """the error; empty for a resignation"""

    @property
    def path(self) -> list["GameNode"]:
        """The positions from the root to this one, both included."""
        nodes = [self]
        while nodes[-1].parent is not None:
            nodes.append(nodes[-1].parent)
        return nodes[::-1]

    @property
    def line(self) -> list["GameNode"]:
        """`path`, continued along the children visited last."""
        nodes = self.path
        while nodes[-1].last_child is not None:
            nodes.append(nodes[-1].last_child)
        return nodes

    @property
    def moves(self) -> list[int]:
        return [node.action for node in self.path if node.action is not None]


class GameTree:
    """A tree of moves and its current position."""

    def __init__(self, game: Game, start: str = "") -> None:
        """`start` is the position in which the game begins, as in `PlayedGame`."""
        self.game, self.start = game, start
        self.size = 1
        """Number of positions."""
        self.root = self.current = GameNode(first_state(game, start))
        self._file: PlayedGame | None = None
        """the game loaded from a file, if any"""
        self._file_end = self.root

    @classmethod
    def of(cls, played: PlayedGame) -> "GameTree":
        """Create the tree of a recorded game, at its end."""
        game_tree = cls(played.game, played.start)
        game_tree._add_variations(played)
        comments = played.comments or ("",) * len(played.actions)
        for ply, (action, comment) in enumerate(zip(played.actions, comments, strict=True)):
            game_tree.make(action, comment)
            game_tree.current.is_opening = ply < played.opening
            game_tree.current.is_setup = ply < played.setup
        if game_tree.outcome not in (ONGOING, played.outcome) and played.outcome != ONGOING:
            game_tree.current.told = played.outcome
        if (played.resigned or played.forfeit_reason) and played.outcome != ONGOING:
            game_tree.resign(0 if value_of(played.outcome, 0) < 0 else 1, played.forfeit_reason)
        game_tree._file, game_tree._file_end = played, game_tree.current
        return game_tree

    @property
    def source(self) -> PlayedGame | None:
        """The loaded game, as long as `line` and its end are unchanged."""
        file, end = self._file, self.line[-1]
        if file is None or end is not self._file_end:
            return None
        is_resigned = (file.resigned or bool(file.forfeit_reason)) and file.outcome != ONGOING
        return file if is_resigned == (end.loser is not None) else None

    @property
    def loaded_players(self) -> tuple[str, str] | None:
        """The players of the loaded game, also after further moves; None for a position alone."""
        return self._file.players if self._file and self._file.actions else None

    @property
    def state(self) -> State:
        return self.current.state

    @property
    def to_play(self) -> int:
        return to_play(self.state)

    @property
    def outcome(self) -> int:
        """The outcome, or ONGOING."""
        return self._outcome_at(self.current)

    @property
    def is_over(self) -> bool:
        return self.outcome != ONGOING

    @property
    def line(self) -> list[GameNode]:
        return self.current.line

    def make(self, action: int, comment: str = "") -> None:
        """Play a move: enter the child if it exists, else create it.

        Raise GameError when the move is illegal.
        """
        child = next((node for node in self.current.children if node.action == action), None)
        if child is None:
            state, ply = self.game.play(self.state, action), self.current.ply + 1
            child = GameNode(state, action, self.current, ply)
            self.current.children.append(child)
            self.size += 1
        child.comment = comment or child.comment
        self.current.last_child = child
        self.current.loser, self.current.forfeit_reason = None, ""  # the game goes on
        self.current = child

    def resign(self, player: int, forfeit_reason: str = "") -> None:
        """End the line here by a resignation, or by a loss through the error `forfeit_reason`."""
        node = self.current
        node.last_child, node.loser, node.forfeit_reason = None, player, forfeit_reason

    def go_to(self, ply: int) -> bool:
        """Go to position `ply` of `line`; return whether it exists."""
        line = self.line
        if not 0 <= ply < len(line):
            return False
        self.current = line[ply]
        return True

    def search_comment(self, action: int, search_result: SearchResult | None) -> str:
        """Return a file comment with the search result before a move; empty without a result."""
        if search_result is None:
            return ""
        visits, value = search_result.visits, search_result.value
        policy: Any = visits / max(visits.sum(), 1)
        return search_comment(self.game, self.state, action, value, policy, visits)

    def name(self, node: GameNode) -> str:
        """Return the name of the move into a position other than the root."""
        assert node.parent is not None
        assert node.action is not None
        return self.game.action_name(node.parent.state, node.action)

    def value(self, node: GameNode) -> float | None:
        """Return the value of a position for player 0, in [-1, 1]; None without a source.

        Sources: the outcome, the search result, a comment's value, the parent's search result.
        """
        outcome = self._outcome_at(node)
        if outcome != ONGOING:
            return float(value_of(outcome, 0))
        if node.search_result:
            return value_of(1, to_play(node.state)) * node.search_result.value
        for child in node.children:
            if (value := value_in(child.comment)) is not None:
                return value_of(1, to_play(node.state)) * value
        parent = node.parent
        if parent and parent.search_result:
            for candidate in parent.search_result.candidates:
                if candidate.action == node.action and candidate.visits:
                    return value_of(1, to_play(parent.state)) * candidate.value
        return None

    def played(self, players: tuple[str, str]) -> PlayedGame:
        """Return `line` as a game between `players`, or between those of its `source`.

        The other moves of the tree are its variations. A loaded file's event and remark stay when
        the game goes on, but not what the file says about its players or its end.
        """
        line, variations, file = self.line, self._variations(), self._file
        texts = tuple(node.comment for node in line[1:])
        comments, end = texts if any(texts) else (), line[-1]
        if self.source:
            return dataclasses.replace(self.source, comments=comments, variations=variations)
        return PlayedGame(
            self.game,
            players,
            tuple(node.action for node in line if node.action is not None),
            self._outcome_at(end),
            opening=sum(node.is_opening for node in line),
            comments=comments,
            start=self.start,
            setup=sum(node.is_setup for node in line),
            resigned=end.loser is not None and not end.forfeit_reason,
            forfeit_reason=end.forfeit_reason,
            variations=variations,
            remark=file.remark if file else "",
            tags=tuple(tag for tag in file.tags if tag[0] in EVENT) if file else (),
        )

    def _variations(self) -> tuple[Variation, ...]:
        """Return a variation for each leaf beside `line`; a comment stands in one of them only."""
        end, on_line, written = self.line[-1], set(self.line), set[GameNode]()
        variations, pending, moves = list[Variation](), [self.root], 0
        while pending and moves < MAX_VARIATION_MOVES:
            node = pending.pop()
            if node is not end:  # after a resignation there is no move to replace
                pending += reversed(node.children)
            if node.children or node in on_line:
                continue
            nodes = [other for other in node.path if other not in on_line]
            actions = tuple(other.action for other in nodes if other.action is not None)
            texts = tuple("" if other in written else other.comment for other in nodes)
            written.update(nodes)
            moves += len(nodes)
            comments = texts if any(texts) else ()
            variations.append(Variation(nodes[0].ply - 1, actions, comments))
        return tuple(variations)

    def _add_variations(self, played: PlayedGame) -> None:
        for ply, line, comments in played.variations:
            self.current = self.root
            for action in played.actions[:ply]:
                self.make(action)
            for action, comment in zip(line, comments or [""] * len(line), strict=True):
                self.make(action, comment)
        self.current = self.root

    def _outcome_at(self, node: GameNode) -> int:
        if node.loser is not None:
            return value_of(-1, node.loser)  # -1 for the loser; `value_of` is its own inverse
        return self.game.outcome(node.state) if node.told is None else node.told
