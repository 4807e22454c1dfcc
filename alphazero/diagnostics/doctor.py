"""The diagnosis of a run from its folder, by the rules of `doctor_rules.py`."""

from dataclasses import dataclass
from pathlib import Path
from typing import Final

from alphazero.diagnostics.doctor_rules import ENOUGH_ITERATIONS, ENOUGH_STEPS, RULES, RunData
from alphazero.diagnostics.run_history import read_curves
from alphazero.training.run_directory import RunDirectory

SHARDS: Final = 10
"""Newest iterations whose games are read."""


@dataclass(frozen=True)
class Diagnosis:
    """The results of the rules for a run."""

    iterations: int
    steps: int
    is_short: bool
    findings: list[str]
    """one line each, with the figure and the key to change"""
    skipped: list[str]
    """rules without enough data"""

    def __str__(self) -> str:
        lines = [f"examined {self.iterations:,} iterations"]
        lines += self.findings
        if not self.steps:
            lines.append("nothing was learned yet: no optimizer step is done")
        if self.is_short:
            lines.append(
                f"too short to judge: {self.iterations:,} iterations and {self.steps:,} steps; a "
                f"verdict takes {ENOUGH_ITERATIONS} iterations and {ENOUGH_STEPS} steps, at least"
            )
        elif not self.findings:
            lines.append("no problem found")
        if self.skipped:
            lines.append(f"skipped, too little data: {', '.join(self.skipped)}")
        return "\n".join(lines)


def examine(run: Path) -> Diagnosis:
    """Diagnose a finished or running run from its folder, without changing it.

    Raises:
        RunError: when there is no run, or a file of it is damaged.
    """
    opened = RunDirectory.open(run)
    newest = opened.state.shards[-SHARDS:]
    shards = [(each, opened.load_shard(each)) for each in newest]
    return diagnose(RunData(opened.config, read_curves(run), shards))


def diagnose(data: RunData) -> Diagnosis:
    """Apply every rule that applies to the run."""
    findings, skipped = [], []
    for rule in RULES:
        if not rule.applies(data.config):
            continue
        if not rule.has_data(data):
            skipped.append(rule.name)
        elif (message := rule.check(data)) is not None:
            findings.append(f"{rule.name}: {message}")
    return Diagnosis(data.iterations, data.steps, data.is_short, findings, skipped)
