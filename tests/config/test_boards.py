"""The boards of self-play, and what one network cannot play."""

import pytest

from alphazero.config.boards import make_boards
from alphazero.config.loader import dump_config, parse_config
from alphazero.errors import ConfigError
from alphazero.games import make_game

GO = """\
game: {name: go, rows: 5, columns: 5}
network: {heads: convolutional}
budget: {iterations: 1}
"""


def test_a_run_has_one_board_unless_it_names_others() -> None:
    assert make_boards(parse_config(GO)) == (make_game("go", rows=5, columns=5),)


def test_boards_keep_the_options_of_the_game_that_they_do_not_change() -> None:
    config = parse_config(GO, overrides=["selfplay.boards=[{rows: 3}, {}, {rows: 3, columns: 4}]"])
    sizes = [(3, 5), (5, 5), (3, 4)]
    assert make_boards(config) == tuple(make_game("go", rows=r, columns=c) for r, c in sizes)
    assert parse_config(dump_config(config)) == config


@pytest.mark.parametrize(
    ("boards", "others", "complaint"),
    [
        ("3", (), "selfplay.boards: expected null or a list of boards, got 3"),
        ("[]", (), "expected null or a list of boards, got"),
        ("[3]", (), "expected {option: value}, got 3"),
        ("[{}, null]", (), "expected {option: value}, got nothing"),
        ("[{name: go, rows: 3}]", (), "'name' is no option of a game"),
        ('[{"a\\nb": 3}]', (), "is no option of a game"),
        ("[{rows: true}]", (), "'rows' must be int"),
        ("[{komi_half_points: 9}]", (), "the network cannot tell"),
        ("[{rows: 3}, {rows: 3, superko: 0}]", (), "the network cannot tell"),
        ("[{rows: [3]}]", (), "'rows' needs a number, text, true or false"),
        ("[{rows: 99}]", (), "rows must be"),
        ("[{height: 3}]", (), "height"),
        ("[{features: 1}]", (), "it has other planes"),
        ("[{rows: 3}]", ("network.heads=dense",), "only with network.heads: convolutional"),
        ("[{rows: 3}]", ("selfplay.distributed={ray: {}}",), "Ray actors play on one board"),
    ],
)
def test_wrong_boards_get_one_line(boards: str, others: tuple[str, ...], complaint: str) -> None:
    with pytest.raises(ConfigError) as error:
        parse_config(GO, overrides=[f"selfplay.boards={boards}", *others])
    assert "selfplay.boards" in str(error.value)
    assert "\n" not in str(error.value)
    assert complaint in str(error.value)


def test_a_wrong_key_that_boards_depend_on_is_the_only_error() -> None:
    with pytest.raises(ConfigError) as error:
        parse_config(GO, overrides=["selfplay.boards=[{rows: 3}]", "network.heads=convolutionl"])
    assert "boards" not in str(error.value)
