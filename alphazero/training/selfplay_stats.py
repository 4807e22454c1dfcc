"""Counters of self-play: simulations, evaluations, cache hits, times."""

from dataclasses import dataclass, field

from alphazero.mcts.network_search import NetworkSearch


@dataclass
class SelfPlayStats:
    """Counters of the searches, summed over the workers."""

    simulations: int = 0
    evaluations: int = 0
    batch_capacity: int = 0
    """rows available in the batches"""
    cache_lookups: int = 0
    cache_found: int = 0
    """cache hits"""
    kept_visits: int = 0
    """visits that the roots of full searches had from the move before"""
    new_visits: int = 0
    """simulations that these searches were given"""
    seconds_evaluating: float = field(default=0.0, repr=False, compare=False)
    """wall-clock time inside the evaluator"""
    seconds_playing: float = field(default=0.0, repr=False, compare=False)
    """wall-clock time of playing, evaluation included; 0: not measured. These two times
    differ in every run, so comparisons ignore them."""

    def add(self, search: NetworkSearch) -> None:
        self.simulations += search.simulations
        self.evaluations += search.evaluations
        self.batch_capacity += search.batches * search.rows
        cache_lookups, cache_found = search.cache_hits
        self.cache_lookups += cache_lookups
        self.cache_found += cache_found
        self.kept_visits += search.kept_visits
        self.new_visits += search.new_visits
        self.seconds_evaluating += search.seconds_evaluating

    def __add__(self, other: "SelfPlayStats") -> "SelfPlayStats":
        return SelfPlayStats(*(mine + vars(other)[name] for name, mine in vars(self).items()))

    def __sub__(self, earlier: "SelfPlayStats") -> "SelfPlayStats":
        return SelfPlayStats(*(mine - vars(earlier)[name] for name, mine in vars(self).items()))

    @property
    def cache_hits(self) -> float:
        return self.cache_found / max(self.cache_lookups, 1)

    @property
    def kept_share(self) -> float:
        """Visits kept from the move before, as a share of the root visits of full searches."""
        return self.kept_visits / max(self.kept_visits + self.new_visits, 1)

    @property
    def batch_fill(self) -> float:
        """Share of the batches' rows that were used."""
        return self.evaluations / max(self.batch_capacity, 1)

    @property
    def network_share(self) -> float:
        """Share of the playing time that was spent inside the evaluator, 0 to 1."""
        return self.seconds_evaluating / self.seconds_playing if self.seconds_playing else 0.0
