"""Follows runs in training: what they have published, and their best networks."""

from collections.abc import Hashable, Mapping
from typing import Any, NamedTuple

from alphazero.errors import AlphaZeroError
from alphazero.frontends.web.catalog.catalog import Catalog, PlayerOption
from alphazero.games.registry import write_game

Stamps = tuple[Hashable, Hashable]


class Change(NamedTuple):
    """What a run has published since it was last looked at."""

    run: str
    stamps: Stamps
    status: Mapping[str, Any]
    player: PlayerOption | None
    """its best player, loaded anew; None if that is the same, or not on the page"""


class RunFollower:
    """The status of each run of a catalog, and its newest best player in the catalog."""

    def __init__(self, catalog: Catalog) -> None:
        self._catalog = catalog
        self._stamps: dict[str, Stamps] = {
            name: (None, archive.stamps()[1]) for name, archive in catalog.archives.items()
        }
        self._status: dict[str, Mapping[str, Any]] = {name: {} for name in catalog.archives}
        self._loads = dict.fromkeys(catalog.archives, 0)
        """How often each run's best player was loaded anew."""
        self.apply(self.look())

    def look(self) -> list[Change]:
        """Return what runs have published; may run on any thread. Unreadable runs are skipped."""
        changes = []
        for name, archive in self._catalog.archives.items():
            stamps, before = archive.stamps(), self._stamps[name]
            if stamps == before:
                continue
            try:
                is_new = stamps[1] != before[1] and name in self._catalog.run_players
                player = self._catalog.reload(self._catalog.run_players[name]) if is_new else None
                changes.append(Change(name, stamps, archive.status(), player))
            except AlphaZeroError:
                continue
        return changes

    def apply(self, changes: list[Change]) -> None:
        """Apply these changes; on the server's thread."""
        for change in changes:
            self._stamps[change.run] = change.stamps
            self._status[change.run] = change.status
            if change.player is not None:
                self._catalog.players[change.player.name] = change.player
                self._loads[change.run] += 1

    def json(self) -> list[dict[str, Any]]:
        """Return the runs, their players and status, and how often a player was loaded anew."""
        return [
            {
                "name": name,
                "game": write_game(archive.game),
                "player": self._catalog.run_players.get(name),
                **self._status[name],
                "loads": self._loads[name],
            }
            for name, archive in self._catalog.archives.items()
        ]
