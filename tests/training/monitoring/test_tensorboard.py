"""A run's settings as TensorBoard's own HPARAMS plugin reads them."""

import warnings
from pathlib import Path
from types import SimpleNamespace
from typing import Any

from helpers.runs.tiny_run import tiny_config

from alphazero.config.reference import changed_values
from alphazero.training.loop import resume, train
from alphazero.training.monitoring.tensorboard import Metrics, TensorBoardWriter

with warnings.catch_warnings():
    warnings.simplefilter("ignore")
    from tensorboard.backend.event_processing.data_provider import MultiplexerDataProvider
    from tensorboard.backend.event_processing.plugin_event_multiplexer import EventMultiplexer
    from tensorboard.context import RequestContext
    from tensorboard.plugins.hparams.api_pb2 import (
        DATA_TYPE_BOOL,
        DATA_TYPE_FLOAT64,
        DATA_TYPE_STRING,
        ListSessionGroupsRequest,
        Status,
    )
    from tensorboard.plugins.hparams.backend_context import Context
    from tensorboard.plugins.hparams.list_session_groups import Handler


class Tab:
    """The columns and rows of the tab HPARAMS."""

    def __init__(self, folder: Path) -> None:
        multiplexer = EventMultiplexer().AddRunsFromDirectory(str(folder))
        multiplexer.Reload()
        provider = MultiplexerDataProvider(multiplexer, str(folder))
        context = Context(SimpleNamespace(data_provider=provider))
        asked = RequestContext()
        found = context.hparams_metadata(asked, "")
        self.experiment = context.experiment_from_metadata(
            asked, "", True, found, context.hparams_from_data_provider(asked, "", None)
        )
        request = ListSessionGroupsRequest(
            start_index=0, slice_size=99, allowed_statuses=Status.values()
        )
        for metric in self.experiment.metric_infos:
            request.col_params.add(metric=metric.name)
        for setting in self.experiment.hparam_infos:
            request.col_params.add(hparam=setting.name)
        self.groups = Handler(asked, context, "", request).run().session_groups

    @property
    def kinds(self) -> dict[str, int]:
        return {each.name: each.type for each in self.experiment.hparam_infos}

    def settings(self) -> dict[str, dict[str, Any]]:
        """Return the settings of each run."""
        return {
            group.sessions[0].name: {
                name: getattr(value, value.WhichOneof("kind"))
                for name, value in group.hparams.items()
                if value.WhichOneof("kind") != "null_value"
            }
            for group in self.groups
        }

    def metrics(self) -> dict[str, dict[str, float]]:
        """Return the last values of each run."""
        return {
            group.sessions[0].name: {
                each.name.tag: each.value
                for each in group.sessions[0].metric_values
                if each.name.group == ""
            }
            for group in self.groups
        }


def test_the_tab_shows_each_run_with_its_settings_and_last_values(tmp_path: Path) -> None:
    first = {"network.blocks": 3, "search.reuse_tree": False, "learner.optimizer": "sgd"}
    second = {"network.blocks": 5, "search.c_puct": 2.5, "learner.optimizer": "muon"}
    for name, settings, last in (("a", first, 2), ("b", second, 4)):
        curves = TensorBoardWriter(tmp_path / name, 0, None, settings)
        for iteration in range(1, last + 1):
            curves.write(iteration, Metrics({"loss/total": 1 / iteration}))
    tab = Tab(tmp_path)
    assert tab.settings() == {"a": first, "b": second}
    assert tab.metrics() == {"a": {"loss/total": 0.5}, "b": {"loss/total": 0.25}}
    assert tab.kinds == {
        "network.blocks": DATA_TYPE_FLOAT64,
        "search.c_puct": DATA_TYPE_FLOAT64,
        "search.reuse_tree": DATA_TYPE_BOOL,
        "learner.optimizer": DATA_TYPE_STRING,
    }


def test_a_run_is_one_row_of_its_own_folder_also_after_it_was_resumed(tmp_path: Path) -> None:
    config = tiny_config(tmp_path, "budget.iterations=1", "network.filters=12")
    run = train(config)
    resume(run, ["budget.iterations=2"])
    tab = Tab(tmp_path)
    assert tab.settings() == {"tiny": changed_values(config)}
    assert tab.settings()["tiny"]["network.filters"] == 12
    (metrics,) = tab.metrics().values()
    assert metrics["learner/steps"] > 0
    assert {"loss/total", "gate/rating", "selfplay/positions"} <= metrics.keys()
