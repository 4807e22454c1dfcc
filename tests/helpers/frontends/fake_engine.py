"""A program for tests that plays the first free move, or misbehaves.

    python fake_engine.py gtp|uci|gomocup [FAULT [MOVE]]

Over GTP it plays tic-tac-toe, over Gomocup's protocol gomoku on 5 x 5, over UCI Breakthrough on
5 x 5; there it keeps the lines that it reads, for its option `Log File`. FAULT is what it does
instead of its MOVE-th move (default: the first) from its start: crash, hang, flood, illegal; not
over UCI fail; over GTP gibberish, resign; over UCI none; or, whatever the move: mute (never a
word), refuse (the first `play`), small (no board of this size), other (it knows chess alone).
"""

import shlex
import sys
import time
from collections.abc import Iterator
from pathlib import Path

PROTOCOL, FAULT, WHEN = [*sys.argv[1:], "", "", ""][:3]
ROWS = {"w": "12", "b": "45"}
LIMITS = {"uci": "nodes=5", "gomocup": "max_node=5", "gtp": ""}


def fake(protocol: str, *arguments: object, settings: str = "") -> str:
    """Return the command of this program, with `settings` or the limit of its moves."""
    command = shlex.join([sys.executable, "-ISu", __file__, protocol, *map(str, arguments)])
    return ",".join(filter(None, (command, settings or LIMITS[protocol])))


def faults(flood: str) -> Iterator[str]:
    """Yield the fault of each move, empty for none; crash, hang and flood happen here."""
    for number in range(1, 1000):
        fault = FAULT if number == int(WHEN or 1) else ""
        if fault == "crash":
            sys.exit("RuntimeError: out of cheese")
        elif fault == "hang":
            time.sleep(600)
        while fault == "flood":
            print(flood * 1000)
        yield fault


def speak_gtp() -> None:
    cells, taken = [f"{column}{row}" for row in (3, 2, 1) for column in "ABC"], set()
    faulty = faults("= A1 ")
    for line in sys.stdin:
        word, *rest = line.split()
        answer = "="
        if word == "list_commands":
            answer = "= boardsize\nclear_board\nplay\ngenmove\nquit"
        elif word == "boardsize" and FAULT == "small":
            answer = "? unacceptable size"
        elif word == "clear_board":
            taken.clear()
        elif word == "play":
            taken.add(rest[1].upper())
            answer = "? I do not like it" if FAULT == "refuse" else "="
        elif word == "genmove":
            answer = {
                "illegal": f"= {next(iter(taken), 'D4')}",
                "gibberish": "= a nice move\nwould be A1",
                "fail": "? no idea",
                "resign": "= resign",
            }.get(next(faulty), f"= {next(cell for cell in cells if cell not in taken)}")
            taken.add(answer[2:])
        print(f"{answer}\n", flush=True)
        if word == "quit":
            return


def legal_moves(cells: dict[str, str], own: str) -> list[str]:
    """Return the moves of Breakthrough, by name."""
    step, moves = 1 if own == "w" else -1, []
    for cell in (cell for cell, side in cells.items() if side == own):
        for aside in (-1, 0, 1):
            target = f"{chr(ord(cell[0]) + aside)}{int(cell[1]) + step}"
            if target[0] in "abcde" and (target not in cells or aside):
                moves += [cell + target] * (cells.get(target) != own)
    return sorted(moves)


def speak_uci() -> None:
    variants = "chess" if FAULT == "other" else "breakthrough5x5 var chess"
    log, cells, own, faulty = sys.stderr, {}, "w", faults("option " + 1000 * "x")
    for line in sys.stdin:
        word, *rest = line.split()
        print(line, end="", file=log, flush=True)
        if word == "uci":
            print("noise\noption name Log File type string default <empty>")
            print(f"option name UCI_Variant type combo default chess var {variants}\nuciok")
        elif word == "isready":
            print("readyok")
        elif rest[:3] == ["name", "Log", "File"]:
            log = Path(rest[-1]).open("w")  # noqa: SIM115
        elif word == "position":
            cells = {f"{c}{r}": side for side, rows in ROWS.items() for r in rows for c in "abcde"}
            moves = rest[rest.index("moves") + 1 :] if "moves" in rest else []
            for move in moves:
                cells[move[2:]] = cells.pop(move[:2])
            own = "wb"[len(moves) % 2]
        elif word == "go":
            move = legal_moves(cells, own)[0]
            move = {"illegal": "a1a5", "none": "(none)"}.get(next(faulty), move)
            print(f"info depth 1 pv {move}\nbestmove {move} ponder a9a9")
        elif word == "quit":
            return
        sys.stdout.flush()


def speak_gomocup() -> None:
    taken, sides, faulty = [], [], faults("1,1\n")
    for line in sys.stdin:
        word, _, rest = line.strip().partition(" ")
        if word == "START":
            taken = []
            print("ERROR too small" if FAULT == "small" else "MESSAGE hello\nOK")
        elif word == "BOARD":
            sides = []
        elif word == "END":
            return
        elif word[:1].isdigit() or word == "TURN":
            cell, _, side = (rest + ",2" if rest else word).rpartition(",")
            if cell in taken:
                print("ERROR a stone lies there")
            taken.append(cell)
            sides.append(side)
        if word in ("BEGIN", "TURN", "DONE"):
            cells = [f"{column},{row}" for row in range(5) for column in range(5)]
            move = next(cell for cell in cells if cell not in taken)
            if word == "BEGIN" and taken:
                move = "ERROR the board is not empty"
            if word == "DONE" and sides != [
                "12"[(len(sides) - ply) % 2] for ply in range(len(sides))
            ]:
                move = "ERROR whose stones?"
            taken.append(move)
            print({"illegal": "5,0", "fail": "ERROR no idea"}.get(next(faulty), move))
        sys.stdout.flush()


if __name__ == "__main__":
    if FAULT == "mute":
        time.sleep(600)
    {"gtp": speak_gtp, "uci": speak_uci, "gomocup": speak_gomocup}[PROTOCOL]()
