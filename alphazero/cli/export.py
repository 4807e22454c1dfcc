"""The command that writes a player for other programs and for browsers."""

import argparse
from pathlib import Path

from alphazero.cli.shared import check_name, command
from alphazero.errors import AlphaZeroError


def export_arguments(parser: argparse.ArgumentParser) -> None:
    add = parser.add_argument
    text = "a checkpoint, a run's folder for its best player, or the name of a shipped player"
    add("player", metavar="PLAYER", help=text)
    text = "write the network as an ONNX model for any batch size; its metadata names the game, "
    text += "the planes, the actions and the player"
    add("--onnx", type=Path, metavar="FILE", help=text)
    text = "write a web page that plays in the browser: for a web host that serves files"
    add("--page", type=Path, metavar="FOLDER", help=text)
    text = "with --page: copy onnxruntime-web from this npm folder, such as "
    text += "node_modules/onnxruntime-web (default: the page loads it from cdn.jsdelivr.net)"
    add("--runtime", type=Path, metavar="FOLDER", help=text)


@command("export connect_four --onnx connect_four.onnx", export_arguments)
def export(options: argparse.Namespace) -> None:
    """Write a player's network as ONNX, or a web page that plays without a server."""
    from alphazero.players.registry import parse_player
    from alphazero.players.specs import CheckpointSpec
    from alphazero.utils.files import printable, write_atomic

    if options.onnx is None and options.page is None:
        raise AlphaZeroError("name what to write: --onnx FILE, --page FOLDER or both")
    if options.runtime is not None and options.page is None:
        raise AlphaZeroError("--runtime belongs to --page FOLDER")
    player = parse_player(options.player)
    if not isinstance(player, CheckpointSpec):
        raise AlphaZeroError(f"{player.name} has no network; export a checkpoint, as connect_four")
    names = [option.name for option, _, _ in player.option_fields()]
    if changes := [name for name in names if getattr(player, name) is not None]:
        raise AlphaZeroError(
            f"export writes the network, not its search: leave out {', '.join(changes)}"
        )
    if options.onnx:
        check_name(options.onnx, "a model", ".onnx")

    from alphazero.frontends.static_page.writer import (
        check_folder,
        check_rules,
        page_files,
        read_runtime,
        write_page,
    )
    from alphazero.network.checkpoint import find_checkpoint, load_checkpoint
    from alphazero.network.onnx_export import export_model

    path = find_checkpoint(Path(player.subject))
    checkpoint = load_checkpoint(path)
    if options.page:
        check_rules(checkpoint)
        check_folder(options.page)
    if options.runtime:
        read_runtime(options.runtime)  # fails here, before the model is made
    model = export_model(checkpoint)
    if options.onnx:
        write_atomic(options.onnx, model.data)
        print(f"{printable(options.onnx)}: {len(model.data) / 1e6:.1f} MB")
    if options.page:
        size = write_page(options.page, page_files(checkpoint, model, options.runtime))
        page = printable(options.page)
        print(f"{page}: {size / 1e6:.1f} MB; look at it: python -m http.server --directory {page}")
    print(model.describe())
