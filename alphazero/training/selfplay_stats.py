"""What self-play counts: games, positions, simulations, times."""

from dataclasses import dataclass, field

from alphazero.mcts.network_search import NetworkSearch


@dataclass
class SelfPlayStats:
    """What searches did, added up over the workers."""

    simulations: int = 0
    evaluations: int = 0
    places: int = 0
    """rows that the batches had room for"""
    questions: int = 0
    """positions looked up among the remembered evaluations"""
    answers: int = 0
    """and found there"""
    kept_visits: int = 0
    """visits that the roots of full searches had when these began"""
    new_visits: int = 0
    """simulations that were asked of these searches"""
    seconds_evaluating: float = field(default=0.0, repr=False, compare=False)
    """time inside the evaluator, by each worker's clock"""
    seconds_playing: float = field(default=0.0, repr=False, compare=False)
    """time of playing, that included; 0 where nobody took it. No two runs agree in these two."""

    def add(self, search: NetworkSearch) -> None:
        """Add what `search` has done."""
        self.simulations += search.simulations
        self.evaluations += search.evaluations
        self.places += search.batches * search.rows
        questions, answers = search.cache_hits
        self.questions += questions
        self.answers += answers
        self.kept_visits += search.kept_visits
        self.new_visits += search.new_visits
        self.seconds_evaluating += search.seconds_evaluating

    def __add__(self, other: "SelfPlayStats") -> "SelfPlayStats":
        """Return the work of both."""
        return SelfPlayStats(*(mine + vars(other)[name] for name, mine in vars(self).items()))

    def __sub__(self, earlier: "SelfPlayStats") -> "SelfPlayStats":
        """Return what was done since `earlier`."""
        return SelfPlayStats(*(mine - vars(earlier)[name] for name, mine in vars(self).items()))

    @property
    def cache_hits(self) -> float:
        """The share of positions that were remembered."""
        return self.answers / max(self.questions, 1)

    @property
    def kept_share(self) -> float:
        """The share of the visits of full searches that were kept from the move before."""
        return self.kept_visits / max(self.kept_visits + self.new_visits, 1)

    @property
    def batch_fill(self) -> float:
        """The share of the batches' rows that were used."""
        return self.evaluations / max(self.places, 1)

    @property
    def search_efficiency(self) -> float:
        """The share of the playing time that was spent inside the evaluator, 0 to 1."""
        return self.seconds_evaluating / self.seconds_playing if self.seconds_playing else 0.0
