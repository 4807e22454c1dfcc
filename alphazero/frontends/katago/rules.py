"""KataGo's names for the rules of Go, as far as Go has them here.

`kata-get-rules`, `kata-set-rules` and the field `rules` of an analysis (KataGo,
docs/GTP_Extensions.md). Only the rules of ko and suicide can be chosen.
"""

import dataclasses
import json
from typing import Any, Final

from alphazero.errors import GameError, did_you_mean
from alphazero.games.game import Game
from alphazero.games.go.game import Go
from alphazero.utils.checked_json import parse_object

KO: Final = ("SIMPLE", "POSITIONAL", "SITUATIONAL")
"""The rules of ko, in the order of Go's option `superko`."""

FIXED: Final = {"scoring": "AREA", "tax": "NONE", "hasButton": False, "whiteHandicapBonus": "0"}
"""The rules that have one value here."""

FIELDS: Final = ("ko", "suicide", *FIXED, "friendlyPassOk")

SHORTHANDS: Final[dict[str, dict[str, Any]]] = {
    "tromp-taylor": {"ko": "POSITIONAL", "scoring": "AREA", "suicide": True},
    "chinese": {"ko": "SIMPLE", "scoring": "AREA", "suicide": False},
    "chinese-ogs": {"ko": "POSITIONAL", "scoring": "AREA", "suicide": False},
    "chinese-kgs": {"ko": "POSITIONAL", "scoring": "AREA", "suicide": False},
    "japanese": {"ko": "SIMPLE", "scoring": "TERRITORY", "suicide": False},
    "korean": {"ko": "SIMPLE", "scoring": "TERRITORY", "suicide": False},
    "stone-scoring": {"ko": "SIMPLE", "scoring": "AREA", "suicide": False, "tax": "ALL"},
    "aga": {"ko": "SITUATIONAL", "scoring": "AREA", "suicide": False},
    "bga": {"ko": "SITUATIONAL", "scoring": "AREA", "suicide": False},
    "new-zealand": {"ko": "SITUATIONAL", "scoring": "AREA", "suicide": True},
    "aga-button": {"ko": "SITUATIONAL", "scoring": "AREA", "suicide": False, "hasButton": True},
}
"""KataGo's rule sets. White's bonus in handicap games is left out: give it as komi."""

KGS_NAMES: Final = {
    "chinese": "chinese-kgs",
    "aga": "aga",
    "japanese": "japanese",
    "new_zealand": "new-zealand",
}
"""The names of `kgs-rules`."""

MAX_NAME = 40


def rules_of(game: Game) -> dict[str, Any]:
    """Return the game's rules in KataGo's fields.

    Players capture dead stones before they pass: `friendlyPassOk` is false.

    Raises:
        GameError: for a game other than Go.
    """
    go = _go(game)
    chosen = {"ko": KO[go.superko], "suicide": bool(go.suicide), "friendlyPassOk": False}
    return FIXED | chosen


def read_rules(rules: str | dict[str, Any]) -> dict[str, Any]:
    """Return the fields of a rule set: of its name, of JSON as text, or as they are.

    Raises:
        GameError: for an unknown name, or text that is no JSON object.
    """
    if isinstance(rules, dict):
        return rules
    text = rules.strip()
    if text.startswith("{"):
        try:
            return parse_object(text)
        except ValueError:
            raise GameError("the rules are no JSON object") from None
    name = text.lower().replace("_", "-").replace(" ", "-")
    if name not in SHORTHANDS:
        hint = did_you_mean(name, SHORTHANDS)
        raise GameError(
            f"unknown rules {text[:MAX_NAME]!r}{hint} (known: {', '.join(SHORTHANDS)}; or JSON)"
        )
    return SHORTHANDS[name]


def with_rules(game: Game, rules: dict[str, Any]) -> tuple[Game, list[str]]:
    """Return the game with the fields of `rules` that Go has here, and why others are not taken.

    Raises:
        GameError: for a game other than Go.
    """
    options, refused = dict[str, int](), list[str]()
    for name, value in rules.items():
        written = json.dumps(value)[:MAX_NAME]
        if name == "ko" and value in KO:
            options["superko"] = KO.index(value)
        elif name == "suicide" and isinstance(value, bool):
            options["suicide"] = int(value)
        elif name == "friendlyPassOk" and isinstance(value, bool):
            continue  # it allows passes that no player needs
        elif name in FIXED and (value == FIXED[name] or str(value) == FIXED[name]):
            continue
        elif name in FIXED:
            refused.append(f"not supported: {name} {written}, only {json.dumps(FIXED[name])}")
        elif name in FIELDS:
            takes = ", ".join(KO) if name == "ko" else "true or false"
            refused.append(f"{name} must be {takes}, got {written}")
        else:
            hint = did_you_mean(name, FIELDS)
            refused.append(f"unknown rule {name[:MAX_NAME]!r}{hint}")
    return dataclasses.replace(_go(game), **options), refused


def _go(game: Game) -> Go:
    if not isinstance(game, Go):
        raise GameError("not supported for this game")
    return game
