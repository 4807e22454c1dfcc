"""The diagnosis of a run from its folder, by the rules of `doctor_rules.py`."""

from dataclasses import dataclass
from pathlib import Path
from typing import Final

from alphazero.arena.solved_positions import STAGES
from alphazero.diagnostics.doctor_rules import ENOUGH_ITERATIONS, ENOUGH_STEPS, RULES, RunData
from alphazero.diagnostics.run_history import curves_of
from alphazero.training.monitoring.metrics import METRICS
from alphazero.training.run_directory import RunDirectory

SHARDS: Final = 10
"""Newest iterations whose games are read: enough for a verdict, and quick to read."""


@dataclass(frozen=True)
class Diagnosis:
    """The results of the rules for a run."""

    iterations: int
    steps: int
    is_short: bool
    findings: list[str]
    """a line each, with the figure and the key to change"""
    skipped: list[str]
    """rules that need curves or iterations that the run does not have"""

    def __str__(self) -> str:
        lines = [f"looked at {self.iterations:,} iterations"]
        lines += self.findings
        if not self.steps:
            lines.append("nothing was learned yet: no optimizer step is done")
        if self.is_short:
            lines.append(
                f"too short to judge: {self.iterations:,} iterations and {self.steps:,} steps; a "
                f"verdict takes {ENOUGH_ITERATIONS} iterations and {ENOUGH_STEPS} steps, at least"
            )
        elif not self.findings:
            lines.append("nothing found")
        if self.skipped:
            lines.append(f"not judged, for want of data: {', '.join(self.skipped)}")
        return "\n".join(lines)


def examine(run: Path) -> Diagnosis:
    """Diagnose a run from its folder, finished or under way; nothing in it is changed.

    Raises:
        RunError: when there is no run, or a file of it is damaged.
    """
    return diagnose(gather(run))


def gather(run: Path) -> RunData:
    """Read the input of the rules; errors as in `examine`."""
    opened = RunDirectory.open(run)
    solved = [name for name in METRICS if name.startswith("solved/")]
    names = [name for name in METRICS if name not in solved]
    names += [f"solved/search_optimal/{stage}" for stage in STAGES]
    curves = dict(zip(names, curves_of(run, names), strict=True))
    newest = opened.state.shards[-SHARDS:]
    return RunData(opened.config, curves, [(each, opened.load_shard(each)) for each in newest])


def diagnose(evidence: RunData) -> Diagnosis:
    """Apply every rule that concerns the run."""
    findings, unjudged = [], []
    for rule in RULES:
        if not rule.applies(evidence.config):
            continue
        if not rule.has_data(evidence):
            unjudged.append(rule.name)
        elif (said := rule.check(evidence)) is not None:
            findings.append(f"{rule.name}: {said}")
    return Diagnosis(evidence.iterations, evidence.steps, evidence.is_short, findings, unjudged)
