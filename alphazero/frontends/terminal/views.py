"""The terminal's views: the board, candidate moves, the game so far."""

import re
from collections.abc import Container, Sequence

from alphazero.frontends.terminal.screen import BOLD, DIM, PLAYERS, Screen
from alphazero.frontends.terminal.session import TerminalSession
from alphazero.games.game import Game, State, win_rate
from alphazero.games.grid import SIGNS, side_of
from alphazero.games.results import describe_margin
from alphazero.players.position_search import SearchResult
from alphazero.utils.tables import align

EMPTY = SIGNS[0]
COLUMNS = ("move", "visits", "share", "wins", "prior", "line")


def board(
    screen: Screen,
    game: Game,
    state: State,
    last_cells: Sequence[int] = (),
    is_turned: bool = False,
) -> str:
    """Draw the position; the cells of the last move are in brackets: [X].

    `is_turned`: a game of pieces by half a turn, as the second side sees it.
    """
    rows, columns = game.observation_shape[1:]
    lines = game.render(state).split("\n")
    if is_turned:
        # The rows and the line of letters, which all have the same length; numbers stay in front.
        field = [line[:3] + line[:2:-1] for line in lines[: rows + 1]]
        lines[: rows + 1] = [*field[-2::-1], field[-1]]
        last_cells = [rows * columns - 1 - cell for cell in last_cells]
    kinds = range(1, len(game.piece_kinds) + 1)
    players = {
        game.piece_sign(sign * kind): player
        for player, sign in enumerate((1, -1))
        for kind in kinds
    } or dict(zip(SIGNS[1:], (0, 1), strict=True))
    lines = [f"  {line} " for line in lines]
    places = [_cells_in(line, columns, players) for line in lines]
    has_cells = sum(map(bool, places)) == rows
    texts, cell = [], 0
    for line, row in zip(lines, places, strict=True):
        signs = list(line)
        for place in row if has_cells else []:
            player = players.get(line[place])
            if cell in last_cells:
                signs[place - 1] = "|" if signs[place - 1] == "]" else "["
                signs[place + 1] = "]"
            signs[place] = screen.paint(line[place], DIM if player is None else PLAYERS[player])
            cell += 1
        texts.append("".join(signs).rstrip())
    return "\n".join(texts)


def _cells_in(line: str, columns: int, signs: Container[str]) -> list[int]:
    """Return the string indices of a row's cells; [] if the line shows no row."""
    words = list(re.finditer(r"\S+", line))
    if words and words[0][0].isdigit():
        words = words[1:]
    cells = [word.start() for word in words if word[0] == EMPTY or word[0] in signs]
    return cells if len(cells) == len(words) == columns else []


def candidates(screen: Screen, session: TerminalSession, result: SearchResult) -> str:
    """Draw the value of the position and its best moves.

    The columns are visits, visit share, win rate of the player to move, network prior, line.
    """
    game, state, (width, height) = session.game, session.game_tree.state, screen.size
    alone, margin = result.network_value, result.end.margin
    headline = (
        f"  {side_of(game, session.game_tree.to_play)}: win rate {win_rate(result.value):.0%}"
        + ("" if alone is None else f" (network alone {win_rate(alone):.0%})")
        + ("" if margin is None else f", {describe_margin(game, margin)}")
        + f", {result.size}"
    )
    rows = [COLUMNS] + [
        (
            game.action_name(state, move.action),
            f"{move.visits:,}",
            f"{result.share(move):.1%}",
            f"{win_rate(move.value):.1%}" if move.visits else "-",
            f"{move.prior:.1%}",
            " ".join(game.action_names(state, move.line)),
        )
        for move in result.candidates[: max(1, min(8, height - 4))]
    ]
    lines = [headline[:width]]
    aligned = align([row[:-1] for row in rows]).splitlines()
    for numbers, (*_, line) in zip(aligned, rows, strict=True):
        text = f"  {numbers}  {line}"
        lines.append(text if len(text) <= width else f"{text[: width - 3]}...")
    best = screen.paint(lines[2], BOLD)
    return "\n".join([*lines[:2], best, *lines[3:]])


def graph(
    screen: Screen, game: Game, rates: Sequence[float | None], player: int, is_user: bool
) -> str | None:
    """Draw a player's win rate, given player 0's `rates`; None with fewer than two numbers."""
    rates = [rate if rate is None or player == 0 else 1 - rate for rate in rates]
    numbers = [rate for rate in rates if rate is not None]
    if len(numbers) < 2:
        return None
    side = side_of(game, player)
    who = f"your win rate as {side}" if is_user else f"win rate of {side}"
    now = f"{numbers[-1]:.0%}" + (" when last known" if rates[-1] is None else "")
    width = max(8, screen.size[0] - len(who) - len(now) - 9)
    return f"  {who}  {screen.paint(screen.sparkline(rates[-width:]), PLAYERS[player])}  {now}"
