"""The benchmark of backends measures every library that is installed."""

import benchmark_backends
from helpers.networks import needs_onnx
from helpers.paths import CHECKPOINTS

from alphazero.network.inference import backend


@needs_onnx
def test_every_library_has_a_row_and_torch_is_the_base(monkeypatch, capsys):
    monkeypatch.setattr(backend, "openvino_is_installed", lambda: False)
    player = str(CHECKPOINTS / "tic_tac_toe.safetensors")
    table = benchmark_backends.measure(player, [1, 4], 1).splitlines()
    assert [row.split(" | ")[0] for row in table[2:]] == [
        "| ONNX Runtime, float32",
        "| torch, float32",
    ]
    assert table[-1].count("(1.0)") == 2
    assert capsys.readouterr().err.count("left out: inference.backend: OpenVINO is not") == 2
