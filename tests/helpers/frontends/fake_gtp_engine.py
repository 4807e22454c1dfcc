"""A program for tests that speaks GTP: it plays tic-tac-toe, the first free cell, or misbehaves.

    python fake_gtp_engine.py [FAULT [MOVE]]

FAULT is what it does instead of its MOVE-th move (default: the first): crash, hang, illegal,
gibberish, fail, resign, flood; or, whatever the move: refuse (the first `play`), mute (never a
word), small (no board of this size). It counts moves from its start, not from `clear_board`.
"""

import sys
import time


def main() -> None:  # noqa: PLR0912
    fault = sys.argv[1] if len(sys.argv) > 1 else ""
    when = int(sys.argv[2]) if len(sys.argv) > 2 else 1
    cells = [f"{column}{row}" for row in (3, 2, 1) for column in "ABC"]
    taken: set[str] = set()
    moves = 0
    if fault == "mute":
        time.sleep(600)
    for line in sys.stdin:
        word, *rest = line.split()
        answer = "="
        if word == "list_commands":
            answer = "= boardsize\nclear_board\nplay\ngenmove\nquit"
        elif word == "boardsize" and fault == "small":
            answer = "? unacceptable size"
        elif word == "clear_board":
            taken.clear()
        elif word == "play":
            taken.add(rest[1].upper())
            if fault == "refuse":
                answer = "? I do not like it"
        elif word == "genmove":
            moves += 1
            answer = f"= {next(cell for cell in cells if cell not in taken)}"
            if moves == when:
                if fault == "crash":
                    sys.exit("RuntimeError: out of cheese")
                elif fault == "hang":
                    time.sleep(600)
                elif fault == "flood":
                    while True:
                        print("= " + "A1 " * 1000)
                answer = {
                    "illegal": f"= {next(iter(taken), 'D4')}",
                    "gibberish": "= a nice move\nwould be A1",
                    "fail": "? no idea",
                    "resign": "= resign",
                }.get(fault, answer)
            taken.add(answer[2:])
        print(f"{answer}\n", flush=True)
        if word == "quit":
            return


if __name__ == "__main__":
    main()
