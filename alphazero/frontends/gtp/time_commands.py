"""Time systems by name: `kgs-time_settings`, and `kata-time_settings` with Fischer's clock.

kgsGtp's documentation; KataGo, docs/GTP_Extensions.md.
"""

import math
from typing import Final

from alphazero.frontends.clock import TimeSettings
from alphazero.frontends.gtp.engine import Engine, Handler
from alphazero.frontends.gtp.protocol import GtpError, expect, read_integer, read_number

KGS_SYSTEMS: Final = {"none": 0, "absolute": 1, "byoyomi": 3, "canadian": 3}
"""Systems of `kgs-time_settings` and the number of their arguments."""

SYSTEMS: Final = KGS_SYSTEMS | {"fischer": 2, "fischer-capped": 4}
"""Those of `kata-time_settings`."""


def _set(engine: Engine, arguments: list[str], systems: dict[str, int]) -> str:
    system, numbers = (arguments or [""])[0], arguments[1:]
    if system not in systems:
        raise GtpError(f"expected one of {', '.join(systems)}, got {system[:20]!r}")
    if len(numbers) != systems[system]:
        raise GtpError(f"{system} takes {systems[system]} numbers, got {len(numbers)}")
    engine.set_clocks(_read(system, numbers))
    return ""


def _read(system: str, numbers: list[str]) -> TimeSettings | None:
    """Return the settings of a system; None for no limits."""
    if system == "none":
        return None
    main, second = ([read_number(text, "a time") for text in numbers[:2]] + [0.0, 0.0])[:2]
    if system.startswith("fischer"):
        # A negative number stands for no limit.
        main_limit, move_limit = (
            limit if (limit := read_number(text, "a time", least=-1)) >= 0 else math.inf
            for text in (numbers[2:] or ["-1", "-1"])
        )
        if main_limit < main:
            raise GtpError("the limit of the main time is below the main time")
        return TimeSettings(main, increment=second, main_limit=main_limit, move_limit=move_limit)
    count = read_integer(numbers[2], "stones or periods", 1) if len(numbers) == 3 else 0
    if system == "byoyomi":
        return TimeSettings(main, second, stones=1, periods=count)
    return TimeSettings(main, second, stones=count)


def _list(_: Engine, arguments: list[str]) -> str:
    expect(arguments, 0)
    return " ".join(SYSTEMS)


COMMANDS: dict[str, Handler] = {
    "kgs-time_settings": lambda engine, arguments: _set(engine, arguments, KGS_SYSTEMS),
    "kata-time_settings": lambda engine, arguments: _set(engine, arguments, SYSTEMS),
    "kata-list_time_settings": _list,
}
