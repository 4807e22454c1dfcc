"""A program for tests that speaks UCI: it plays Breakthrough on 5 x 5, or misbehaves.

    python fake_uci_engine.py [FAULT [MOVE]]

It plays the first move by name, and keeps the lines that it reads, for its option `Log File`.
FAULT is what it does instead of its MOVE-th move (default: the first): crash, hang, illegal,
none, flood; or, whatever the move: mute (never a word), other (it knows chess alone).
"""

import sys
import time
from pathlib import Path

ROWS = 5


def legal_moves(cells: dict[str, str], own: str) -> list[str]:
    """Return the moves of Breakthrough, by name."""
    step, moves = 1 if own == "w" else -1, []
    for cell in (cell for cell, side in cells.items() if side == own):
        for aside in (-1, 0, 1):
            target = f"{chr(ord(cell[0]) + aside)}{int(cell[1]) + step}"
            if target[0] in "abcde" and (target not in cells or aside):
                moves += [cell + target] * (cells.get(target) != own)
    return sorted(moves)


def main() -> None:  # noqa: PLR0912
    fault = sys.argv[1] if len(sys.argv) > 1 else ""
    when = int(sys.argv[2]) if len(sys.argv) > 2 else 1
    variants = "chess" if fault == "other" else "breakthrough var chess"
    log, number, cells, own = sys.stderr, 0, {}, "w"
    if fault == "mute":
        time.sleep(600)
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
            white, black = (
                [f"{c}{r}" for r in "12" for c in "abcde"],
                [f"{c}{r}" for r in "45" for c in "abcde"],
            )
            cells = dict.fromkeys(white, "w") | dict.fromkeys(black, "b")
            moves = rest[rest.index("moves") + 1 :] if "moves" in rest else []
            for move in moves:
                cells[move[2:]] = cells.pop(move[:2])
            own = "wb"[len(moves) % 2]
        elif word == "go":
            number += 1
            move = legal_moves(cells, own)[0]
            if number == when:
                if fault == "crash":
                    sys.exit("RuntimeError: out of cheese")
                elif fault == "hang":
                    time.sleep(600)
                elif fault == "flood":
                    while True:
                        print("option " + 1000 * "x")
                move = {"illegal": "a1a5", "none": "(none)"}.get(fault, move)
            print(f"info depth 1 pv {move}\nbestmove {move} ponder a9a9")
        elif word == "quit":
            return
        sys.stdout.flush()


if __name__ == "__main__":
    main()
