"""Player specs: one syntax wherever a player is named.

    random                               a name in `PLAYER_KINDS`
    uct:simulations=1000,seconds=2       with options; the first may omit its key: uct:1000
    network:PATH, gtp:COMMAND            for some kinds the whole rest is one option
    PATH, PATH:simulations=200           a checkpoint, or a run directory for its best player

Existing paths are tried first, then the names in `PLAYER_KINDS`, then paths with options, which are
split from the right: `C:\\runs\\x.safetensors:seconds=1`.

Specs are parsed and files are checked before torch is imported and kernels are compiled: player
modules are imported only when a player is created.
"""

import dataclasses
import functools
import re
import sys
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from pathlib import Path
from types import UnionType
from typing import TYPE_CHECKING, Any, get_args

import numpy as np

from alphazero.config.fields import (
    FieldInfo,
    WrongValueError,
    check_value,
    config_fields,
    type_words,
)
from alphazero.errors import CheckpointError, PlayerError, did_you_mean
from alphazero.mcts.kernels.selection_rules import UNLIMITED
from alphazero.mcts.rollout_methods import METHODS, RolloutConfig
from alphazero.players.budget import Budget, budget_of
from alphazero.players.options import (
    SEARCH_KEYS,
    CheckpointOptions,
    GtpOptions,
    MinimaxOptions,
    NetworkOptions,
    Options,
    RolloutOptions,
)
from alphazero.utils.files import printable, suggest_file
from alphazero.utils.shipped import find_shipped, shipped_players

if TYPE_CHECKING:
    from alphazero.games.game import Game
    from alphazero.players.base import Player
    from alphazero.players.search_player import SearchPlayer

LONGEST = 4096
"""Maximum length of a player spec, in characters."""

Builder = Callable[["Game", Any, Budget, int, np.random.Generator], "Player"]
"""Creates a player: (game, options, budget, number of games, random generator) -> player."""


@dataclass(frozen=True)
class PlayerKind:
    """A kind of player and how to create it."""

    options: type[Options]
    build: Builder
    whole: bool = False
    """The whole text after the colon is the first option, whatever characters it holds."""


def _build_saved(
    _: "Game", options: CheckpointOptions, budget: Budget, num_games: int, rng: np.random.Generator
) -> "Player":
    level = options.settings_of_level
    if level is None:
        return options.saved.create(num_games, budget)
    # One leaf at a time, as the level was measured.
    return options.saved.create(num_games, budget, leaves=1, level=level, rng=rng)


def _build_random(
    game: "Game", _: Options, _budget: Budget, num_games: int, rng: np.random.Generator
) -> "Player":
    from alphazero.players.base import RandomPlayer

    return RandomPlayer(game, num_games, rng)


def _build_rollouts(
    method: str,
    game: "Game",
    options: RolloutOptions,
    budget: Budget,
    num_games: int,
    rng: np.random.Generator,
) -> "Player":
    from alphazero.mcts.rollout_search import RolloutSearch
    from alphazero.players.search_player import SearchPlayer

    given = {name: value for name, value in vars(options).items() if value is not None}
    given.pop("seconds", None)
    given["simulations"] = UNLIMITED if budget.simulations is None else budget.simulations
    search = RolloutSearch(game, RolloutConfig(method, **given), slots=num_games, rng=rng)
    return SearchPlayer(search, seconds=budget.seconds)


def _build_minimax(
    game: "Game", options: MinimaxOptions, budget: Budget, num_games: int, rng: np.random.Generator
) -> "Player":
    from alphazero.players.solver_players import MinimaxPlayer

    return MinimaxPlayer(game, num_games, rng, depth=options.depth, seconds=budget.seconds)


def _build_solver(
    game: "Game", _: Options, _budget: Budget, num_games: int, rng: np.random.Generator
) -> "Player":
    from alphazero.players.solver_players import SolverPlayer

    return SolverPlayer(game, num_games, rng)


def _build_gtp(
    game: "Game", options: GtpOptions, _budget: Budget, num_games: int, _: np.random.Generator
) -> "Player":
    from alphazero.players.gtp_player import GtpPlayer

    return GtpPlayer(game, num_games, options.command, options.move_timeout)


CHECKPOINT = PlayerKind(CheckpointOptions, _build_saved)

PLAYER_KINDS: dict[str, PlayerKind] = {
    "random": PlayerKind(Options, _build_random),
    **{
        name: PlayerKind(RolloutOptions, functools.partial(_build_rollouts, name))
        for name in METHODS
    },
    "minimax": PlayerKind(MinimaxOptions, _build_minimax),
    "solver": PlayerKind(Options, _build_solver),
    "network": PlayerKind(NetworkOptions, _build_saved, whole=True),
    "gtp": PlayerKind(GtpOptions, _build_gtp, whole=True),
}
"""All kinds except `CHECKPOINT`, by name."""


@dataclass(frozen=True)
class PlayerSpec:
    """A parsed player spec, from which players are created."""

    name: str
    """canonical spec: two different names are two players"""
    kind: PlayerKind
    options: Options

    @property
    def game(self) -> "Game | None":
        return self.options.game

    def plays(self, game: "Game") -> bool:
        """Whether it plays `game`: any game, or one that its network accepts."""
        return self.game is None or self.game.accepts(game)

    @property
    def player_hash(self) -> str:
        return self.options.player_hash

    @property
    def is_timed(self) -> bool:
        return self.options.is_timed

    def on(self, game: "Game") -> "PlayerSpec":
        """Return the player for `game`, which may be another size of its own one.

        Raises:
            PlayerError: when it does not play `game`.
        """
        from alphazero.games.registry import write_game

        if self.plays(game):
            return self
        own, reason = self.game, "players need one game"
        if isinstance(self.options, CheckpointOptions) and type(own) is type(game):
            try:
                return dataclasses.replace(self, options=self.options.on(game))
            except CheckpointError:
                reason = "its weights fit no other; with network.heads: convolutional they would"
        assert own is not None
        raise PlayerError(
            f"{self.name} plays {write_game(own)}, but the game asked for is {write_game(game)}: "
            f"{reason}"
        )

    @property
    def transfer_note(self) -> str | None:
        """A sentence about a checkpoint that plays another game than it was trained on."""
        from alphazero.games.registry import write_game

        saved = self.options.saved
        if saved is None:
            return None
        game, trained = write_game(saved.game), write_game(saved.trained_game)
        return None if game == trained else f"{self.name} was trained on {trained}, not on {game}"

    def create(
        self,
        game: "Game",
        num_games: int = 1,
        rng: np.random.Generator | None = None,
        budget: Budget | None = None,
    ) -> "Player":
        """Return a player for `num_games` games of `game`, by default with its own budget."""
        assert self.plays(game), "it plays another game"
        budget, rng = budget or self.options.budget, rng or np.random.default_rng(0)
        return self.kind.build(game, self.options, budget, num_games, rng)


def parse_player(
    text: str, *, simulations: int | None = None, seconds: float | None = None
) -> PlayerSpec:
    """Parse `text` and load its checkpoint, if any.

    `simulations` or `seconds` is the default budget where the spec gives none and its kind takes
    one.

    Raises:
        PlayerError: for an unknown kind or option, or a value out of range (with the choices).
        CheckpointError: for a file that is no checkpoint.
    """
    spec = name_player(text, simulations=simulations, seconds=seconds)
    _ = spec.game  # fails here for an unreadable checkpoint
    return spec


def name_player(
    text: str,
    *,
    simulations: int | None = None,
    seconds: float | None = None,
    level: int | None = None,
    move_timeout: float | None = None,
) -> PlayerSpec:
    """As `parse_player`, but do not load the player; of a checkpoint only the header is read.

    `level` is another default budget, and `move_timeout` the answer timeout of a GTP program, in
    seconds.

    Raises:
        PlayerError: as `parse_player`, and for a level of a player without levels.
        CheckpointError: as `parse_player`, as far as the header shows.
    """
    if len(text) > LONGEST:
        raise PlayerError(f"a player's name has at most {LONGEST} characters, got {len(text)}")
    kind, values = _parse(text)
    budget = {"simulations": simulations, "seconds": seconds, "level": level}
    takes = {field.name for field, _, _ in config_fields(kind.options)}
    if not kind.whole and not budget.keys() & values.keys():
        values |= {k: v for k, v in budget.items() if v is not None and k in takes}
    if level is not None and "level" not in takes:
        raise PlayerError(
            f"{printable(text[:80])} has no levels: only checkpoints have them; try --simulations "
            "or --seconds"
        )
    if move_timeout is not None and "move_timeout" in takes:
        values["move_timeout"] = move_timeout
    spec = PlayerSpec(_write(kind, values), kind, kind.options(**values))
    spec.options.check()
    return spec


def name_checkpoint(text: str) -> CheckpointOptions:
    """Parse PATH or PATH:OPTIONS as a checkpoint; only the header is read.

    Raises:
        PlayerError: for another kind of player, an unknown option, or a search budget.
        CheckpointError: for a file that is no checkpoint.
    """
    word = text.partition(":")[0]
    if word in PLAYER_KINDS and not _exists(text):
        alone = "; --simulations 0 is the network alone" if word == "network" else ""
        raise PlayerError(
            f"expected a checkpoint, as PATH or PATH:selection=puct, got the player "
            f"{printable(text[:80])!r}{alone}"
        )
    path, rest = (text, "") if _exists(text) else _split_path(text)
    options = _read_options(text, CHECKPOINT, rest, given=bool(rest))
    if budget := options.keys() - set(SEARCH_KEYS):
        raise PlayerError(
            f"{printable(text[:80])!r}: leave out {min(budget)}; --simulations sets it"
        )
    named = CheckpointOptions(path or text, **options)
    named.check()
    return named


def load_player(
    path: Path | str,
    *,
    game: "Game | str | None" = None,
    simulations: int | None = None,
    seconds: float | None = None,
) -> "tuple[Game, SearchPlayer]":
    """Load a checkpoint, or the best player of a run directory; return its game and its player.

    `game` is another game than in training, as another size of the board, where its heads allow it;
    a text is `NAME` or `NAME:option=value,...`. The budget of a move is as in
    `CheckpointPlayer.create`.

    Raises:
        CheckpointError: in one line, for a file that is no checkpoint.
        PlayerError: when it does not play `game`.
    """
    from alphazero.games.registry import read_game
    from alphazero.players.checkpoint_player import load_checkpoint_player

    options = CheckpointOptions(str(path), loaded=load_checkpoint_player(path))
    asked = read_game(game) if isinstance(game, str) else game
    (spec,), agreed = agree_on_game([PlayerSpec(str(path), CHECKPOINT, options)], asked)
    assert spec.options.saved, "it is still this checkpoint"
    return agreed, spec.options.saved.create(budget=budget_of(simulations, seconds))


def common_game(specs: Iterable[PlayerSpec], game: "Game | None" = None) -> "Game":
    """Return the game that all players play; `game` is the requested one, if any.

    Otherwise it is the first player's own game that all of them play.

    Raises:
        PlayerError: when they play different games, or none determines the game.
    """
    from alphazero.games.registry import game_names, write_game

    specs = list(specs)
    choices = [(game, "the game asked for is")] if game is not None else []
    choices = choices or [(each.game, f"{each.name} plays") for each in specs if each.game]
    for choice, _ in choices:
        if all(spec.plays(choice) for spec in specs):
            return choice
    if not choices:
        raise PlayerError(
            "these players play any game: name one, as with --game "
            f"{game_names()[0]} (known: {', '.join(game_names())})"
        )
    chosen, whose = choices[0]
    spec = next(spec for spec in specs if not spec.plays(chosen))
    assert spec.game is not None
    raise PlayerError(
        f"{spec.name} plays {write_game(spec.game)}, but {whose} {write_game(chosen)}: players "
        "need one game"
    )


def agree_on_game(
    specs: Iterable[PlayerSpec], asked: "Game | None"
) -> tuple[list[PlayerSpec], "Game"]:
    """Return the players for the game asked for, if any, and the game that they share.

    A checkpoint may play another size of its game; one line on stderr says that it was not
    trained there.

    Raises:
        PlayerError: as `common_game`, or when one does not play the game asked for.
    """
    players = [spec.on(asked) for spec in specs] if asked else list(specs)
    for note in dict.fromkeys(spec.transfer_note for spec in players):
        if note:
            print(note, file=sys.stderr)
    return players, common_game(players, asked)


def _parse(text: str) -> tuple[PlayerKind, dict[str, Any]]:
    word, colon, rest = text.partition(":")
    if _exists(text):
        return CHECKPOINT, {"path": text}
    if word in PLAYER_KINDS:
        kind = PLAYER_KINDS[word]
        if kind.whole:
            first = config_fields(kind.options)[0][0].name
            if not rest:
                raise PlayerError(f"{word!r} needs more: {usage(word)}")
            return kind, {first: rest}
        return kind, _read_options(text, kind, rest, given=bool(colon))
    path, rest = _split_path(text)
    if path:
        options = _read_options(text, CHECKPOINT, rest, given=bool(rest))
        return CHECKPOINT, {"path": path, **options}
    if text in ("human", "person"):
        raise PlayerError(
            f"{text!r} cannot be named here: a person plays by `alphazero play PLAYER`"
        )
    trained, others = ", ".join(shipped_players()), ", ".join(map(usage, PLAYER_KINDS))
    near = did_you_mean(word, PLAYER_KINDS) or suggest_file(
        Path(word), ".safetensors", "checkpoints"
    )
    raise PlayerError(
        f"unknown player {printable(text[:80])!r}{near} (trained players: {trained}; others: "
        f"{others}; or a checkpoint: PATH or PATH:simulations=N)"
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


def usage(word: str) -> str:
    """Return the syntax of a kind in `PLAYER_KINDS` without options, as `uct` or `gtp:COMMAND`."""
    kind = PLAYER_KINDS[word]
    return f"{word}:{config_fields(kind.options)[0][0].name.upper()}" if kind.whole else word


def _read_options(text: str, kind: PlayerKind, rest: str, given: bool) -> dict[str, Any]:
    """Parse `option=value,...`; the first may be a bare value."""
    fields = {
        field.name: (hint, note)
        for field, hint, note in config_fields(kind.options)
        if field.name != "path"
    }
    values: dict[str, Any] = {}
    where = f"player {printable(text[:80])!r}"
    takes = ", ".join(fields) or "none"
    for index, part in enumerate(rest.split(",") if given else []):
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


def _write(kind: PlayerKind, values: dict[str, Any]) -> str:
    """Return the canonical spec: the first option, and others that differ from their defaults."""
    if kind is CHECKPOINT:
        word = values["path"]
    else:
        word = next(word for word, each in PLAYER_KINDS.items() if each is kind)
    options = dataclasses.asdict(kind.options(**values))
    if kind.whole:
        return f"{word}:{next(iter(options.values()))}"
    written = []
    for index, (field, _, _) in enumerate(config_fields(kind.options)):
        value = options[field.name]
        if field.name != "path" and value is not None and (index == 0 or value != field.default):
            written.append(f"{field.name}={_write_value(value)}")
    return f"{word}:{','.join(written)}" if written else word


def _write_value(value: Any) -> str:
    if isinstance(value, bool):
        return "true" if value else "false"
    return repr(value).removesuffix(".0") if isinstance(value, float) else str(value)
