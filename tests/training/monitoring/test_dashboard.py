"""TensorBoard's page of a run shows the charts, and what was measured."""

import json
import re
import warnings
from pathlib import Path
from types import SimpleNamespace

import pytest
from helpers.runs.tiny_run import tiny_config

from alphazero.training.loop import resume, train
from alphazero.training.monitoring.metrics import CHARTS, METRICS, tensorboard_layout
from alphazero.training.monitoring.tensorboard import Metrics, TensorBoardWriter

with warnings.catch_warnings():
    warnings.simplefilter("ignore")
    from tensorboard.backend.event_processing.data_provider import MultiplexerDataProvider
    from tensorboard.backend.event_processing.plugin_event_multiplexer import EventMultiplexer
    from tensorboard.context import RequestContext
    from tensorboard.plugins.custom_scalar.custom_scalars_plugin import CustomScalarsPlugin

ANCHORS, GATES = CHARTS["strength"][:3], CHARTS["strength"][3:]
AUXILIARY = "losses of the auxiliary heads"
ALWAYS = [
    chart
    for section in ("loss", "self-play", "speed")
    for chart in CHARTS[section]
    if chart != AUXILIARY
]
MEASURED = ["evaluation.interval=1", "evaluation.anchors=[random, 'uct:4']"]


@pytest.fixture(scope="module")
def run(tmp_path_factory) -> Path:
    """The folder of a run with anchors, interrupted once."""
    folder = tmp_path_factory.mktemp("runs")
    examined = [*MEASURED, "evaluation.solved_positions_per_stage=9"]
    train(tiny_config(folder, "budget.iterations=1", "gate.interval=1", *examined))
    return resume(folder / "tiny", ["budget.iterations=3"])


def test_every_chart_shows_curves_of_one_unit_and_no_metric_names_another_chart():
    titles = [chart for charts in CHARTS.values() for chart in charts]
    assert len(titles) == len(set(titles))
    shown = {}
    for metric in METRICS.values():
        if metric.chart:
            assert metric.kind == "curve"
            shown.setdefault(metric.chart, set()).add(metric.unit)
    assert set(shown) == set(titles)
    assert {chart for chart, units in shown.items() if len(units) > 1} == {"loss and its parts"}


def shown(folder: Path) -> dict[str, dict[str, list[str]]]:
    """Return the curves of each chart of each chapter, as TensorBoard's own plugin reads them."""
    multiplexer = EventMultiplexer().AddRunsFromDirectory(str(folder))
    multiplexer.Reload()
    provider = MultiplexerDataProvider(multiplexer, str(folder))
    context = SimpleNamespace(logdir="", data_provider=provider, plugin_name_to_instance={})
    layout = json.loads(CustomScalarsPlugin(context).layout_impl(RequestContext(), ""))
    return {
        chapter["title"]: {
            chart["title"]: chart["multiline"]["tag"]
            if "multiline" in chart
            else list(chart["margin"]["series"][0].values())
            for chart in chapter["chart"]
        }
        for chapter in layout["category"]
    }


def test_tensorboard_shows_the_panels_with_their_curves(run):
    assert len(list(run.glob("events.*"))) == 2, "the run was interrupted"
    story = shown(run)
    assert list(story) == list(CHARTS)
    charts = {title: tags for charts in story.values() for title, tags in charts.items()}
    assert list(charts) == [*ANCHORS, *GATES, *ALWAYS]
    known = [name.replace("<", "").replace(">", "") for name in METRICS]
    for title, tags in charts.items():
        if title in (ANCHORS[0], GATES[1]):
            assert tags[1:] == [f"{tags[0]}_low", f"{tags[0]}_high"]
            assert set(tags) <= METRICS.keys()
        else:
            found = [[name for name in known if re.match(tag, name)] for tag in tags]
            assert [len(names) for names in found] == [1] * len(tags), title


def test_tensorboard_gets_no_charts_for_what_a_run_never_measures(tmp_path):
    def charts(*overrides: str) -> list[str]:
        story = tensorboard_layout(tiny_config(tmp_path, *overrides))
        return [title for charts in story.values() for title in charts]

    assert charts() == [*GATES, *ALWAYS]
    assert charts("gate.games=0") == ALWAYS
    assert charts(*MEASURED) == [*ANCHORS[:2], *GATES, *ALWAYS]
    assert set(charts("network.auxiliary=[short_term_value]")) == {*GATES, *ALWAYS, AUXILIARY}


def test_tensorboard_takes_the_layout_of_the_last_time_a_run_went_on(tmp_path):
    for iteration, name in ((0, "loss/total"), (1, "loss/value")):
        layout = {"loss": {"a chart": ["Multiline", [name]]}}
        curves = TensorBoardWriter(tmp_path, iteration, layout)
        curves.write(iteration + 1, Metrics({"loss/total": 1.0}))
    assert shown(tmp_path) == {"loss": {"a chart": ["loss/value"]}}
