"""The terminal's output: the board, candidates, the search tree, the game so far."""

import heapq
import itertools
import re
from collections.abc import Callable, Iterator, Sequence

from alphazero.frontends.game_tree import GameTree, SearchResult
from alphazero.frontends.terminal.screen import PLAYERS, Screen
from alphazero.games.game import Game, State, to_play
from alphazero.games.grid import SIGNS
from alphazero.mcts.search import ChildStatistics

BAR = 16
"""Width of a bar, in columns."""


def sign_of(player: int) -> str:
    """Return X for the first player, O for the second."""
    return SIGNS[player + 1]


# --- the board -----------------------------------------------------------------------------------


def board(screen: Screen, game: Game, state: State, last_cell: int | None) -> str:
    """Draw the position; the last move is in brackets: [X]."""
    rows, columns = game.observation_shape[1:]
    lines = [f"  {line} " for line in game.render(state).split("\n")]
    found = [_cells_in(line, columns) for line in lines]
    if sum(map(bool, found)) != rows:  # a drawing without cells in rows and columns
        return "\n".join(line.rstrip() for line in lines)
    drawn, cell = [], 0
    for line, places in zip(lines, found, strict=True):
        signs = list(line)
        for place in places:
            sign = SIGNS.index(signs[place])
            style = PLAYERS[sign - 1] if sign else "faint"
            left, right = "[]" if cell == last_cell else ("", "")
            signs[place] = screen.paint(left + signs[place] + right, style)
            if left:
                signs[place - 1] = signs[place + 1] = ""
            cell += 1
        drawn.append("".join(signs).rstrip())
    return "\n".join(drawn)


def _cells_in(line: str, columns: int) -> list[int]:
    """Return the string indices of a row's cells; [] if the line shows no row."""
    words = list(re.finditer(r"\S+", line))
    if words and words[0][0].isdigit():
        words = words[1:]
    shown = [word.start() for word in words if word[0] in tuple(SIGNS)]
    return shown if len(shown) == len(words) == columns else []


# --- a search ------------------------------------------------------------------------------------


def headline(state: State, thought: SearchResult, has_network: bool) -> str:
    """Describe the position's value and the simulations."""
    alone = f" (network alone {thought.first_value:+.2f})" if has_network else ""
    return (
        f"  {sign_of(to_play(state))}: value {thought.value:+.2f}, win rate "
        f"{(1 + thought.value) / 2:.0%}{alone}, {thought.simulations:,} simulations"
    )


def candidates(screen: Screen, game: Game, state: State, thought: SearchResult, rows: int) -> str:
    """Draw the best moves: visits, visit share, value for the player to move, prior, line."""
    shown = thought.candidates[:rows]
    names = [game.action_name(state, each.action) for each in shown]
    wide = max([4, *map(len, names)])
    counted = max([6, *(len(f"{each.visits:,}") for each in shown)])
    head = f"  {'move':>{wide}}  {'visits':>{counted}}  share  value   prior  line"
    lines = [screen.paint(head, "faint")]
    for name, each in zip(names, shown, strict=True):
        share = thought.share(each)
        value = f"{each.value:+.2f}" if each.visits else "-"
        text = (
            f"  {name:>{wide}}  {each.visits:>{counted},} {share:>6.1%} {value:>6} "
            f"{each.prior:>7.1%} "
        )
        room = screen.width - len(text)
        best = screen.paint(text, "strong") if each is shown[0] else text
        lines.append(best + _line(screen, game, state, each.line, room))
    return "\n".join(lines)


def _line(screen: Screen, game: Game, state: State, actions: Sequence[int], room: int) -> str:
    """Write as many moves as fit in `room` columns, coloured by player."""
    written = []
    for action in actions:
        name, player = game.action_name(state, action), to_play(state)
        room -= 1 + len(name)
        if room < 0:
            break
        written.append(" " + screen.paint(name, PLAYERS[player]))
        state = game.play(state, action)
    return "".join(written)


def policy(screen: Screen, game: Game, state: State, thought: SearchResult, rows: int) -> str:
    """Draw the network's policy beside the visit shares."""
    bar = max(0, min(BAR, (screen.width - 34) // 2))
    head = f"  {'move':>4}   prior {'':{bar}}  visits {'':{bar}}   value"
    lines = [screen.paint(head, "faint")]
    for each in sorted(thought.candidates, key=lambda each: -each.prior)[:rows]:
        share = thought.share(each)
        value = f"{each.value:+.2f}" if each.visits else "-"
        lines.append(
            f"  {game.action_name(state, each.action):>4}  {each.prior:>6.1%} "
            f"{screen.bar(each.prior, bar)}  {share:>6.1%} {screen.bar(share, bar)}  {value:>6}"
        )
    return "\n".join(lines)


def tree(
    screen: Screen,
    game: Game,
    state: State,
    branches: Callable[[Sequence[int]], list[ChildStatistics]],
    depth: int,
    rows: int,
) -> str:
    """Draw the most visited positions as a tree; `branches` returns the visited moves of a line."""
    kept: dict[tuple[int, ...], ChildStatistics] = {}
    order = itertools.count()  # ties: first found first
    known: list[tuple[int, int, tuple[int, ...], ChildStatistics]] = [
        (-each.visits, next(order), (each.action,), each) for each in branches(())
    ]
    heapq.heapify(known)
    while known and len(kept) < rows:
        _, _, line, branch = heapq.heappop(known)
        kept[line] = branch
        for each in branches(line) if len(line) < depth else ():
            heapq.heappush(known, (-each.visits, next(order), (*line, each.action), each))

    def walk(line: tuple[int, ...], state: State) -> Iterator[tuple[str, ChildStatistics, int]]:
        for below, branch in kept.items():  # most visited first
            if below[:-1] == line:
                name = f"{'  ' * len(below)}{game.action_name(state, branch.action)}"
                yield name, branch, to_play(state)
                yield from walk(below, game.play(state, branch.action))

    found = list(walk((), state))
    wide = max([4, *(len(name) for name, _, _ in found)])
    lines = [screen.paint(f"{'  move':{wide}}    visits   value", "faint")]
    for name, branch, player in found:
        lines.append(
            f"{screen.paint(name.ljust(wide), PLAYERS[player])} {branch.visits:>9,}  "
            f"{branch.value:+.2f} for {sign_of(player)}"
        )
    return "\n".join(lines)


# --- the game so far -----------------------------------------------------------------------------


def graph(screen: Screen, rates: Sequence[float | None], whose: int, person: bool) -> str:
    """Draw a player's win rate, given player 0's `rates`; empty with fewer than two known."""
    own = [rate if rate is None or whose == 0 else 1 - rate for rate in rates]
    known = [rate for rate in own if rate is not None]
    if len(known) < 2:
        return ""
    who = f"your win rate as {sign_of(whose)}" if person else f"win rate of {sign_of(whose)}"
    now = f"{own[-1]:.0%}" if own[-1] is not None else f"{known[-1]:.0%} when last known"
    room = max(8, screen.width - len(who) - len(now) - 8)
    drawn = screen.paint(screen.sparkline(own[-room:]), PLAYERS[whose])
    return f"  {who}  {drawn}  {now}"


def moves(screen: Screen, game_tree: GameTree) -> str:
    """Write the moves of its line, the current one in brackets, and the variations."""
    line, here = game_tree.line, game_tree.here
    words = []
    for number, (before, node) in enumerate(itertools.pairwise(line), 1):
        name, player = game_tree.name(node), to_play(before.state)
        text = f"{number} {sign_of(player)} {name}"
        marks = "[]" if node is here else "  "
        words.append((len(text) + 2, screen.paint(f"{marks[0]}{text}{marks[1]}", PLAYERS[player])))
    written = [" "]
    used = 1
    for length, word in words:
        if used + length > screen.width:
            written.append(" ")
            used = 1
        written[-1] += word
        used += length
    if not words:
        written = ["  no move was made yet"]
    elif here is line[0]:
        written.append("  (now before the first of them)")
    for number, (before, node) in enumerate(itertools.pairwise(line)):
        others = [game_tree.name(each) for each in before.children if each is not node]
        if others:
            place = f"after move {number}" if number else "at the beginning"
            written.append(f"  {place} you also tried {' '.join(others)}")
    return "\n".join(written)
