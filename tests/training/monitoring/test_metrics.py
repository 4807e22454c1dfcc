"""The curves as TensorBoard's own reader sees them."""

import errno
import math
import os
import re
import time
import warnings
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest
from helpers.games import TIC_TAC_TOE
from helpers.runs.events import points, read
from helpers.runs.records import policies_of, random_records
from helpers.runs.tiny_run import ITERATIONS

from alphazero.errors import RunError
from alphazero.training.monitoring.metrics import METRICS, IterationReport
from alphazero.training.monitoring.tensorboard import TensorBoardWriter

with warnings.catch_warnings():
    warnings.simplefilter("ignore")
    from tensorboard.summary.writer.record_writer import RecordWriter


def test_curves_come_back_as_they_were_written(tmp_path):
    names = [name for name, metric in METRICS.items() if metric.kind == "curve"]
    curves = TensorBoardWriter(tmp_path, 0)
    for iteration in (1, 2, 3):
        values = {name: iteration + index / 4 for index, name in enumerate(names)}
        curves.write(iteration, values)
    reader = read(tmp_path)
    assert set(reader.Tags()["scalars"]) == set(names)
    for index, name in enumerate(names):
        expected = [(iteration, iteration + index / 4) for iteration in (1, 2, 3)]
        assert [(event.step, event.value) for event in reader.Scalars(name)] == expected


def test_texts_keep_their_lines(tmp_path):
    curves = TensorBoardWriter(tmp_path, 0)
    curves.write(1, {}, {"selfplay/sample_game": "X . O\n. X ."})
    (event,) = read(tmp_path).Tensors("selfplay/sample_game/text_summary")
    assert event.step == 1
    # Four spaces are a code block in TensorBoard's Markdown.
    assert event.tensor_proto.string_val == [b"    X . O\n    . X ."]


def test_histograms_keep_their_numbers(tmp_path):
    numbers = np.array([0.0, 0.25, 0.25, 1.0])
    curves = TensorBoardWriter(tmp_path, 0)
    curves.write(1, {}, {}, {"selfplay/search_values": numbers})
    curves.write(2, {}, {}, {"selfplay/search_values": numbers[:0]})
    reader = read(tmp_path)
    (event,) = reader.Histograms("selfplay/search_values")
    histogram = event.histogram_value
    assert (event.step, histogram.num, histogram.sum) == (1, 4, 1.5)
    assert (histogram.min, histogram.max, histogram.sum_squares) == (0, 1, 1.125)
    filled = {
        round(right, 6): count
        for right, count in zip(histogram.bucket_limit, histogram.bucket, strict=True)
        if count
    }
    assert filled == {0.025: 1, 0.275: 2, 1: 1}, "forty bins from the least to the greatest"


@pytest.mark.parametrize(
    "name", ["loss/totl", "anchors/a/b/score", "anchors/score", "solved/network_optimal"]
)
def test_what_is_not_in_the_table_fails(tmp_path, name: str):
    wrong = re.escape(f"no curve in the table of metrics: ['{name}']")
    curves = TensorBoardWriter(tmp_path, 0)
    with pytest.raises(AssertionError, match=wrong):
        curves.write(1, {"loss/total": 1.0, "anchors/uct_20/score": 0.5, name: 0.5})
    with pytest.raises(AssertionError, match=name):
        curves.write(1, {}, {}, {name: np.zeros(2)})


@pytest.mark.parametrize("resumed_at", [3, 1, 0])
def test_what_was_written_after_the_resumed_iteration_is_purged(tmp_path, resumed_at: int):
    curves = TensorBoardWriter(tmp_path, 0)
    for iteration in range(1, 6):
        curves.write(iteration, {"loss/total": float(iteration)})
    curves = TensorBoardWriter(tmp_path, resumed_at)
    curves.write(resumed_at + 1, {"loss/total": 40.0})
    kept = [(iteration, float(iteration)) for iteration in range(1, resumed_at + 1)]
    assert points(tmp_path, "loss/total") == [*kept, (resumed_at + 1, 40.0)]


@pytest.mark.parametrize("clocks", [(2e9, 2e9, 2e9), (2e9, 1e9, 1.5e9)], ids=["still", "behind"])
def test_a_run_that_goes_on_after_its_last_iteration_loses_nothing(
    tmp_path, monkeypatch, clocks: tuple[float, ...]
):
    for begin, now in zip((0, 2, 4), clocks, strict=True):
        monkeypatch.setattr(time, "time", lambda now=now: now)
        curves = TensorBoardWriter(tmp_path, begin)
        for iteration in (begin + 1, begin + 2):
            curves.write(iteration, {"loss/total": float(iteration)})
    assert points(tmp_path, "loss/total") == [(step, float(step)) for step in range(1, 7)]


def test_a_folder_that_cannot_be_written_is_one_line(tmp_path):
    (tmp_path / "file").write_text("here")
    with pytest.raises(RunError, match="cannot write") as caught:
        TensorBoardWriter(tmp_path / "file" / "run", 0)
    assert "\n" not in str(caught.value)


@pytest.mark.parametrize("method", ["write", "flush"])
def test_curves_that_are_refused_are_one_line(tmp_path, monkeypatch, method: str):
    def refuse(*_: Any) -> None:
        raise OSError(errno.EROFS, os.strerror(errno.EROFS))

    curves = TensorBoardWriter(tmp_path, 0)
    monkeypatch.setattr(RecordWriter, method, refuse)
    with pytest.raises(RunError, match="cannot write"):
        curves.write(1, {"loss/total": 1.0})
    with pytest.raises(RunError, match="cannot write"):
        TensorBoardWriter(tmp_path, 0)


def test_entropies_are_those_computed_by_hand():
    policies = np.array([[0.5, 0.5, 0, 0], [0, 0, 1, 0], [0.25] * 4, [0.5, 0.25, 0.25, 0]])
    expected = [math.log(2), 0, math.log(4), 1.5 * math.log(2)]
    assert policies_of(policies).entropies() == pytest.approx(expected, abs=1e-12)


def test_only_full_searches_are_counted():
    opened, never = (random_records(TIC_TAC_TOE, 1, 0, opening)[0] for opening in (3, 9))
    for records, values in (([opened, never], opened.values[3:]), ([never], [])):
        report = SimpleNamespace(games=SimpleNamespace(finished=records))
        entropies, counted = IterationReport.searches.func(report)
        assert counted == pytest.approx(values)
        assert entropies.shape == counted.shape


def test_a_run_shows_every_iteration_s_searches_and_its_losses_before_learning(finished_run):
    reader = read(finished_run)
    for name in ("learner/seen_value_loss", "learner/unseen_value_loss"):
        losses = reader.Scalars(name)
        assert [event.step for event in losses] == list(range(2, ITERATIONS + 1))
        assert all(0 <= event.value <= 4 for event in losses)
    shares = [event.value for event in reader.Scalars("selfplay/kept_visits")]
    assert len(shares) == ITERATIONS
    assert all(0 <= share < 1 for share in shares)
    assert max(shares) > 0
    names = {"selfplay/search_entropies", "selfplay/search_values"}
    assert set(reader.Tags()["histograms"]) == names
    efficiency = reader.Scalars("speed/network_share")
    assert [event.step for event in efficiency] == list(range(1, ITERATIONS + 1))
    assert all(0 < event.value <= 1 for event in efficiency)
    for event, mean in zip(
        reader.Histograms("selfplay/search_entropies"),
        reader.Scalars("selfplay/search_entropy"),
        strict=True,
    ):
        histogram = event.histogram_value
        assert histogram.sum / histogram.num == pytest.approx(mean.value, rel=1e-6)
        assert 0 <= histogram.min <= histogram.max <= math.log(9)
