"""The command that shows the configuration: its keys, or a resolved file."""

import argparse

from alphazero.cli.shared import command
from alphazero.errors import AlphaZeroError


def config_arguments(parser: argparse.ArgumentParser) -> None:
    """Add the keys or files to show, and the other forms of the reference."""
    text = "a key or a section: its meaning, range, default and source; a YAML file: all its "
    text += "values, defaults included; section.key=value: in place of what the file says "
    text += "(default: every key)"
    parser.add_argument("names", nargs="*", metavar="KEY|FILE|section.key=value", help=text)
    text = "print the table of keys of configs/README.md"
    parser.add_argument("--markdown", action="store_true", help=text)


@command("config search.c_puct", config_arguments)
def config(options: argparse.Namespace) -> None:
    """Explain configuration keys, or print a resolved file."""
    from alphazero.config import reference
    from alphazero.config.loader import dump_config, load_config
    from alphazero.utils.shipped import shipped_configs

    overrides = [name for name in options.names if "=" in name]
    names = [name for name in options.names if "=" not in name]
    shipped = shipped_configs()
    files = [name for name in names if name.endswith((".yaml", ".yml")) or name in shipped]
    if options.markdown:
        print(reference.keys_table())
    elif not files:
        if overrides:
            raise AlphaZeroError(f"{overrides[0]!r} changes a file; name one, as in configs/")
        rows = [row for name in names for row in reference.find_keys(name)]
        print("\n\n".join(map(str, rows or reference.describe_keys())))
    elif len(names) > 1:
        raise AlphaZeroError("name keys, or one YAML file")
    else:
        print(dump_config(load_config(files[0], overrides)), end="")
