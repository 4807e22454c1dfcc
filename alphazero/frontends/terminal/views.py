"""The terminal's views: the board, candidates, the search tree, the game so far."""

import heapq
import itertools
import re
from collections.abc import Sequence

from rich.columns import Columns
from rich.console import Group, RenderableType
from rich.table import Table
from rich.text import Text

from alphazero.errors import PlayerError
from alphazero.frontends.game_tree import GameNode, GameTree
from alphazero.frontends.terminal.screen import PLAYERS, SHADES, PlainConsole
from alphazero.frontends.terminal.session import TerminalSession
from alphazero.games.game import Game, State, to_play, win_rate
from alphazero.games.grid import SIGNS
from alphazero.games.results import describe_margin
from alphazero.mcts.search import ChildStatistics
from alphazero.players.position_search import SearchResult
from alphazero.utils.arrays import Float32Array

BAR = 16
"""Maximum width of a bar, in columns."""

TERRITORY = 0.5
"""Least ownership of a cell that is marked as territory."""


def side_of(game: Game, player: int) -> str:
    """Return a player's name with the sign of its stones: `Black (X)`, or `X` alone."""
    name, sign = game.side_names[player], SIGNS[player + 1]
    return name if name == sign else f"{name} ({sign})"


# --- the board -----------------------------------------------------------------------------------


def board(
    game: Game, state: State, last_cell: int | None, ownership: Float32Array | None = None
) -> Text:
    """Draw the position; the last move is in brackets: [X].

    With `ownership` [H * W], for player 0, territory is marked: x or o on an empty cell, (X) or (O)
    on a stone that the other side will own; it is shaded where the terminal has colours.
    """
    rows, columns = game.observation_shape[1:]
    lines = [f"  {line} " for line in game.render(state).split("\n")]
    found = [_cells_in(line, columns) for line in lines]
    has_cells = sum(map(bool, found)) == rows
    drawn, cell = [], 0
    for line, places in zip(lines, found, strict=True):
        signs, styles = list(line), []
        for place in places if has_cells else []:
            sign = SIGNS.index(line[place])
            is_last = cell == last_cell
            if is_last:
                signs[place - 1], signs[place + 1] = "[", "]"
            owner = 0 if ownership is None else _owner_of(float(ownership[cell]))
            if owner and not sign:
                signs[place] = SIGNS[owner].lower()
            elif owner not in (0, sign) and not is_last:
                signs[place - 1], signs[place + 1] = "(", ")"
            if owner:
                styles.append((SHADES[owner - 1], place - 1, place + 2))
            else:
                style = PLAYERS[sign - 1] if sign else "dim"
                styles.append((style, place - is_last, place + 1 + is_last))
            cell += 1
        drawn.append(Text("".join(signs).rstrip()))
        for style, start, end in styles:
            drawn[-1].stylize(style, start, end)
    return Text("\n").join(drawn)


def _owner_of(share: float) -> int:
    """Return 1 for player 0's territory, 2 for player 1's, else 0."""
    return 0 if abs(share) < TERRITORY else 1 if share > 0 else 2


def territory(session: TerminalSession) -> Text:
    """Draw the board with the territory that the rules or the network give to each side.

    Raises:
        PlayerError: when neither do.
    """
    game, here = session.game, session.game_tree.current
    end = session.opponent.predict_end(here.state)
    if end.ownership is None:
        raise PlayerError(
            "this player does not predict territory: its network has no ownership head"
        )
    margin = "" if end.margin is None else f"  margin {describe_margin(game, end.margin)}\n"
    first, second = game.side_names
    words = f"  x, o: cells that {first} or {second} will own; (X), (O): stones of the other side"
    drawing = board(game, here.state, last_cell_of(game, here), end.ownership)
    return Text.assemble(drawing, "\n", margin, (words, "dim"))


def last_cell_of(game: Game, node: GameNode) -> int | None:
    """Return the cell of the move into a position; None without one."""
    if node.parent is None or node.action is None:
        return None
    return game.action_cell(node.parent.state, node.action)


def _cells_in(line: str, columns: int) -> list[int]:
    """Return the string indices of a row's cells; [] if the line shows no row."""
    words = list(re.finditer(r"\S+", line))
    if words and words[0][0].isdigit():
        words = words[1:]
    cells = [word.start() for word in words if word[0] in tuple(SIGNS)]
    return cells if len(cells) == len(words) == columns else []


# --- a search ------------------------------------------------------------------------------------


def _table(*headings: str, left: Sequence[str]) -> Table:
    """Return a table without lines; columns in `left` are aligned left, the others right."""
    table = Table(box=None, padding=(0, 0, 0, 2), header_style="dim")
    for heading in headings:
        table.add_column(
            heading, justify="left" if heading in left else "right", no_wrap=heading != "line"
        )
    return table


def _headline(console: PlainConsole, session: TerminalSession, result: SearchResult) -> str:
    """Describe the position's value and the simulations in one line of the terminal."""
    network = (
        f" (network alone {win_rate(result.network_value):.0%})" if session.has_network else ""
    )
    margin = ""
    if result.end.margin is not None:
        margin = f", {describe_margin(session.game, result.end.margin)}"
    side = side_of(session.game, session.game_tree.to_play)
    line = (
        f"  {side}: win rate {win_rate(result.value):.0%}{network}{margin}, "
        f"{result.simulations:,} simulations"
    )
    return line[: console.width]


def candidates(console: PlainConsole, session: TerminalSession, result: SearchResult) -> Group:
    """Draw the best moves: visits, visit share, win rate of the player to move, prior, line."""
    state, rows = session.game_tree.state, max(1, min(8, console.height - 4))
    table = _table("move", "visits", "share", "wins", "prior", "line", left=["line"])
    for place, each in enumerate(result.candidates[:rows]):
        table.add_row(
            session.game.action_name(state, each.action),
            f"{each.visits:,}",
            f"{result.share(each):.1%}",
            f"{win_rate(each.value):.1%}" if each.visits else "-",
            f"{each.prior:.1%}",
            _line(session.game, state, each.line),
            style="bold" if place == 0 else None,
        )
    return Group(_headline(console, session, result), table)


def _line(game: Game, state: State, actions: Sequence[int]) -> Text:
    """Write moves coloured by player, cut to the width of their column."""
    line = Text(no_wrap=True, overflow="ellipsis")
    for action in actions:
        line.append(game.action_name(state, action), PLAYERS[to_play(state)]).append(" ")
        state = game.play(state, action)
    line.rstrip()
    return line


def policy(console: PlainConsole, session: TerminalSession, result: SearchResult) -> Group:
    """Draw the network's policy beside the visit shares."""
    rows, width = max(1, console.height - 4), max(0, min(BAR, (console.width - 35) // 2))
    table = _table("move", " prior", "visits", "wins", left=[" prior", "visits"])
    for each in sorted(result.candidates, key=lambda each: -each.prior)[:rows]:
        share = result.share(each)
        table.add_row(
            session.game.action_name(session.game_tree.state, each.action),
            f"{each.prior:>6.1%} {console.bar(each.prior, width)}",
            f"{share:>6.1%} {console.bar(share, width)}",
            f"{win_rate(each.value):.1%}" if each.visits else "-",
        )
    return Group(_headline(console, session, result), table)


def tree(console: PlainConsole, session: TerminalSession, depth: int) -> Table:
    """Draw the most visited lines of the user's search as a tree."""
    game, search, rows = session.game, session.hint_analyzer().search, max(1, console.height - 4)
    kept: dict[tuple[int, ...], ChildStatistics] = {}
    known: list[tuple[int, int, tuple[int, ...], ChildStatistics]] = []
    order = itertools.count()  # ties: first found first

    def add_children(line: tuple[int, ...]) -> None:
        for each in search.children_of(0, line):
            heapq.heappush(known, (-each.visits, next(order), (*line, each.action), each))

    add_children(())
    while known and len(kept) < rows:
        _, _, line, child = heapq.heappop(known)
        kept[line] = child
        if len(line) < depth:
            add_children(line)

    table = _table("move", "visits", "wins", left=["move", "wins"])

    def add_rows(line: tuple[int, ...], state: State) -> None:
        for below, child in kept.items():  # most visited first
            if below[:-1] == line:
                player = to_play(state)
                name = f"{'  ' * len(line)}{game.action_name(state, child.action)}"
                value = f"{win_rate(child.value):.1%} for {SIGNS[player + 1]}"
                table.add_row(Text(name, PLAYERS[player]), f"{child.visits:,}", value)
                add_rows(below, game.play(state, child.action))

    add_rows((), session.game_tree.state)
    return table


# --- the game so far -----------------------------------------------------------------------------


def graph(
    console: PlainConsole, game: Game, rates: Sequence[float | None], player: int, is_user: bool
) -> Text | None:
    """Draw a player's win rate, given player 0's `rates`; None with fewer than two known."""
    own = [rate if rate is None or player == 0 else 1 - rate for rate in rates]
    known = [rate for rate in own if rate is not None]
    if len(known) < 2:
        return None
    side = side_of(game, player)
    who = f"your win rate as {side}" if is_user else f"win rate of {side}"
    now = f"{own[-1]:.0%}" if own[-1] is not None else f"{known[-1]:.0%} when last known"
    width = max(8, console.width - len(who) - len(now) - 9)
    return Text.assemble(
        f"  {who}  ", (console.sparkline(own[-width:]), PLAYERS[player]), f"  {now}"
    )


def moves(game_tree: GameTree) -> RenderableType:
    """Write the moves of its line, the current one in brackets, and the variations."""
    line = list(itertools.pairwise(game_tree.line))
    words, notes = [], []
    for number, (before, node) in enumerate(line, 1):
        player = to_play(before.state)
        text = f"{number} {SIGNS[player + 1]} {game_tree.name(node)}"
        marks = "[]" if node is game_tree.current else "  "
        words.append(Text(f" {marks[0]}{text}{marks[1]}", PLAYERS[player]))
        others = [game_tree.name(each) for each in before.children if each is not node]
        if others:
            place = f"after move {number - 1}" if number > 1 else "at the beginning"
            notes.append(f"  {place} you also tried {' '.join(others)}")
    if not words:
        return "  no move was made yet"
    if game_tree.current is game_tree.root:
        notes.insert(0, "  (now before the first of them)")
    return Group(Columns(words, padding=0), *notes)
