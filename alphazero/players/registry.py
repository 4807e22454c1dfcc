"""Player specs: one syntax wherever a player is named.

    random                               a name in `PLAYER_KINDS`
    uct:simulations=1000,seconds=2       with options; the first may omit its key: uct:1000
    gtp:COMMAND                          the rest may hold any characters
    uci:COMMAND,nodes=1000               as in `program_process.py`
    gomocup:COMMAND,timeout_turn=1000
    PATH, PATH:simulations=200           a checkpoint, or a run directory for its best player

    NAME                                 an agent of another package

Existing paths are tried first, then the names in `PLAYER_KINDS`, then paths with options, which are
split from the right: `C:\\runs\\x.safetensors:seconds=1`. A name of both is refused: `random:` is
the player, `./random` the path. Other packages name agents in the entry-point group
`alphazero.players`:

    [project.entry-points."alphazero.players"]
    greedy = "my_package.agents:choose"     # a function, an object with `choose`, or its class
"""

import functools
import re
import sys
from collections.abc import Iterable
from importlib.metadata import EntryPoint, entry_points
from pathlib import Path
from types import UnionType
from typing import TYPE_CHECKING, Any, get_args

from alphazero.config.fields import FieldInfo, WrongValueError, check_value, type_words
from alphazero.errors import PlayerError, did_you_mean
from alphazero.mcts.rollout_methods import METHODS
from alphazero.players.budget import budget_of
from alphazero.players.specs import (
    Agent,
    AgentFunction,
    AgentSpec,
    CheckpointSpec,
    GomocupSpec,
    GtpSpec,
    MinimaxSpec,
    PlayerSpec,
    RandomSpec,
    RolloutSpec,
    SolverSpec,
    UciSpec,
)
from alphazero.utils.files import escape, printable, suggest_file
from alphazero.utils.plug_ins import explain_failure
from alphazero.utils.shipped import find_shipped, shipped_players

if TYPE_CHECKING:
    from alphazero.games.game import Game
    from alphazero.players.search_player import SearchPlayer

LONGEST = 4096
"""Maximum length of a player spec, in characters."""

PLAYER_KINDS: dict[str, type[PlayerSpec]] = {
    "random": RandomSpec,
    **dict.fromkeys(METHODS, RolloutSpec),
    "minimax": MinimaxSpec,
    "solver": SolverSpec,
    "gtp": GtpSpec,
    "uci": UciSpec,
    "gomocup": GomocupSpec,
}
"""All kinds except checkpoints, by name."""

USAGES = {
    "gtp": "gtp:COMMAND",
    "uci": "uci:COMMAND,nodes=N",
    "gomocup": "gomocup:COMMAND,timeout_turn=N",
}
"""How kinds are written whose name alone is no player."""


@functools.cache
def agent_entries() -> dict[str, EntryPoint]:
    """Return the agents of other packages, by name."""
    return {entry.name: entry for entry in entry_points(group="alphazero.players")}


@functools.cache
def _load_agent(entry: EntryPoint) -> AgentSpec:
    """Load an agent; raise PlayerError with the place and the reason if that fails."""
    try:
        agent = entry.load()
        return AgentSpec.of(agent() if isinstance(agent, type) else agent, entry.name)
    except (Exception, SystemExit) as error:  # the module may be a script that calls `sys.exit`
        reason = explain_failure(entry, error)
        raise PlayerError(f"player {entry.name!r} cannot be loaded: {reason}") from error


def parse_player(
    text: str | Path | Agent | AgentFunction,
    *,
    simulations: int | None = None,
    seconds: float | None = None,
    level: int | None = None,
) -> PlayerSpec:
    """Parse a player spec; of a checkpoint only the header is read. An agent is taken as it is.

    `simulations`, `seconds` or `level` is the default budget where the spec gives none, nor a
    depth, and its kind takes one. Raises PlayerError for an unknown kind or option, a value out of
    range (with the choices), or a `level` of a player that has none or a budget of its own, and
    CheckpointError for a file that is no checkpoint, as far as the header shows.
    """
    if not isinstance(text, (str, Path)):
        return AgentSpec.of(text)
    budget_of(simulations, seconds)
    text = str(text)
    if len(text) > LONGEST:
        raise PlayerError(f"a player's name has at most {LONGEST} characters, got {len(text)}")
    is_agent = text not in PLAYER_KINDS and not _exists(text) and text in agent_entries()
    kind, subject, values = (AgentSpec, text, {}) if is_agent else _parse(text)
    options = [option.name for option, _, _ in kind.option_fields()]
    budget = {"simulations": simulations, "seconds": seconds, "level": level}
    own = sorted({*budget, "depth"} & values.keys())
    if not own:
        texts = [f"{k}={v}" for k, v in budget.items() if v is not None and k in options]
        values |= _read_options(text, kind, ",".join(texts))
    if level is not None and "level" not in options:
        raise PlayerError(
            f"{printable(text[:80])} has no levels: only checkpoints have them; try --simulations "
            "or --seconds"
        )
    if level is not None and own not in ([], ["level"]):
        raise PlayerError(
            f"{printable(text[:80])} sets {' and '.join(own)} itself: leave that out, or the level"
        )
    if is_agent:
        return _load_agent(agent_entries()[text])
    spec = kind(subject, **values)
    spec.check()
    return spec


def parse_checkpoint(text: str) -> CheckpointSpec:
    """Parse PATH or PATH:OPTIONS as a checkpoint; only the header is read.

    Raises PlayerError for another kind of player, an unknown option, or a search budget, and
    CheckpointError for a file that is no checkpoint.
    """
    spec = parse_player(text)
    if not isinstance(spec, CheckpointSpec):
        raise PlayerError(
            f"expected a checkpoint, as PATH or PATH:selection=puct, got the player "
            f"{printable(text[:80])!r}"
        )
    for name in ("level", "seconds", "simulations"):
        if getattr(spec, name) is not None:
            raise PlayerError(
                f"{printable(text[:80])!r}: leave out {name}; --simulations sets a budget, "
                "or simulations=N in Python"
            )
    return spec


def load_player(
    path: Path | str,
    *,
    game: "Game | str | None" = None,
    simulations: int | None = None,
    seconds: float | None = None,
) -> "tuple[Game, SearchPlayer]":
    """Load a checkpoint, or the best player of a run directory; return its game and its player.

    `game` is another game than in training, as another size of the board, where its heads allow
    it; a text is `NAME` or `NAME:option=value,...`. The budget of a move is as in
    `CheckpointPlayer.create`. Raises PlayerError and CheckpointError as `parse_checkpoint`, and
    PlayerError when it does not play `game`.
    """
    (spec,), agreed = agree_on_game([parse_checkpoint(str(path))], game)
    assert spec.saved, "it is a checkpoint"
    return agreed, spec.saved.create(budget=budget_of(simulations, seconds))


def common_game(specs: Iterable[PlayerSpec], game: "Game | None" = None) -> "Game":
    """Return the game that all players play; `game` is the requested one, if any.

    Otherwise it is the first player's own game that all of them play. Raises PlayerError when
    they play different games, or none determines the game.
    """
    from alphazero.games.registry import game_names, write_game

    specs = list(specs)
    choices = [(game, "the game asked for is")] if game is not None else []
    choices = choices or [(spec.game, f"{spec.name} plays") for spec in specs if spec.game]
    for choice, _ in choices:
        if all(spec.plays(choice) for spec in specs):
            return choice
    if not choices:
        raise PlayerError(
            "these players play any game: name one, as --game "
            f"{game_names()[0]}, or game={game_names()[0]!r} in Python (known: "
            f"{', '.join(game_names())})"
        )
    choice, whose = choices[0]
    spec = next(spec for spec in specs if not spec.plays(choice))
    assert spec.game is not None
    raise PlayerError(
        f"{spec.name} plays {write_game(spec.game)}, but {whose} {write_game(choice)}: players "
        "need one game"
    )


def agree_on_game(
    specs: Iterable[PlayerSpec], game: "Game | str | None"
) -> tuple[list[PlayerSpec], "Game"]:
    """Return the players for `game`, the requested one if any, and the game that they share.

    A text is `NAME` or `NAME:option=value,...`. A checkpoint may play another size of its game; one
    line on stderr says that it was not trained there. Raises PlayerError as `common_game`, or when
    one does not play `game`, and GameError unless `game` is a game or its name.
    """
    from alphazero.games.registry import as_game

    asked = None if game is None else as_game(game)
    players = [spec.for_game(asked) for spec in specs] if asked else list(specs)
    for note in dict.fromkeys(spec.transfer_note for spec in players):
        if note:
            print(escape(note), file=sys.stderr)
    return players, common_game(players, asked)


def _parse(text: str) -> tuple[type[PlayerSpec], str, dict[str, Any]]:
    """Return the kind, the subject and the options of a spec."""
    word, _, rest = text.partition(":")
    check_unambiguous(text)
    if _exists(text):
        return CheckpointSpec, text, {}
    if kind := PLAYER_KINDS.get(word):
        if not kind.prefix:
            return kind, word, _read_options(text, kind, rest)
        return kind, rest, {}
    path, rest = _split_path(text)
    if path:
        return CheckpointSpec, path, _read_options(text, CheckpointSpec, rest)
    if text in ("human", "person"):
        raise PlayerError(
            f"{text!r} cannot be named here: a person plays by `alphazero play PLAYER`"
        )
    _refuse_game(word)
    trained = ", ".join(shipped_players())
    names = [*PLAYER_KINDS, *agent_entries()]
    others = ", ".join(USAGES.get(name, name) for name in names)
    near = did_you_mean(word, names) or suggest_file(Path(word), ".safetensors", "checkpoints")
    raise PlayerError(
        f"unknown player {printable(text[:80])!r}{near} (trained players: {trained}; others: "
        f"{others}; or a checkpoint: PATH or PATH:simulations=N)"
    )


def _refuse_game(word: str) -> None:
    """Raise PlayerError if `word` is the name of a game."""
    from alphazero.games.registry import game_names

    if word in game_names():
        trained = [name for name in shipped_players() if name.startswith(f"{word}_")]
        names = ", ".join([*trained, f"uct --game {word}"])
        raise PlayerError(f"{word!r} is a game; name a player of it, as {names}")


def check_unambiguous(text: str) -> None:
    """Raise PlayerError if `text` is the name of a player and of something in this folder."""
    if text in PLAYER_KINDS and _exists(text):
        raise PlayerError(
            f"{text!r} is a player, and a file or folder here: write {text}: for the player, or "
            f"./{text} for the path"
        )


def _split_path(text: str) -> tuple[str, str]:
    """Split `PATH:options`; the path is empty where `text` does not look like one."""
    cuts = [match.start() for match in re.finditer(":", text)]
    for cut in reversed(cuts):
        if _exists(text[:cut]):
            return text[:cut], text[cut + 1 :]
    # No prefix exists: cut the options off, so that the error names the path.
    head, _, tail = text.rpartition(":")
    path, rest = (head, tail) if head and re.fullmatch(r"\d+|\w+=.*", tail) else (text, "")
    return (path, rest) if re.search(r"[/\\]|\.safetensors$", path) else ("", "")


def _exists(text: str) -> bool:
    """Whether `text` is a path that exists, or the name of a shipped player."""
    try:
        return bool(text) and find_shipped(text, shipped_players()).exists()
    except (OSError, ValueError):
        return False


def _read_options(text: str, kind: type[PlayerSpec], rest: str) -> dict[str, Any]:
    """Parse `option=value,...`; the first may be a bare value."""
    fields = {option.name: (hint, note) for option, hint, note in kind.option_fields()}
    values: dict[str, Any] = {}
    where = f"player {printable(text[:80])!r}"
    takes = ", ".join(fields) or "none"
    for index, part in enumerate(rest.split(",") if rest else []):
        name, equals, value = part.partition("=")
        if not equals and index == 0 and fields and part:
            name, value = next(iter(fields)), part
        elif not equals:
            got = repr(part[:60]) if part else "nothing"
            expected = f"expected option=value, got {got} (options: {takes})"
            raise PlayerError(f"{where}: {expected if fields else f'takes no options, got {got}'}")
        if name not in fields:
            hint = did_you_mean(name, fields)
            raise PlayerError(f"{where}: no option {name[:60]!r}{hint} (options: {takes})")
        if name in values:
            raise PlayerError(f"{where}: {name} is given twice")
        try:
            values[name] = _read_value(*fields[name], value)
        except WrongValueError as error:
            raise PlayerError(f"{where}: {name}: {error}") from None
    return values


def _read_value(hint: Any, note: FieldInfo, text: str) -> Any:
    kinds = get_args(hint) if isinstance(hint, UnionType) else (hint,)
    value: Any = None
    if bool in kinds and text in ("true", "false"):
        value = text == "true"
    elif int in kinds and re.fullmatch(r"[-+]?[0-9]{1,18}", text):
        value = int(text)
    elif float in kinds and re.fullmatch(r"[-+]?([0-9]*\.)?[0-9]+([eE][-+]?[0-9]{1,3})?", text):
        value = float(text)
    elif str in kinds:
        value = text
    if value is None:
        raise WrongValueError(f"expected {type_words(kinds[0], note)}, got {text[:40]!r}")
    return check_value(hint, note, value)
