"""Tables line up as text, and have a head in Markdown."""

from alphazero.utils.tables import align, markdown_table


def test_columns_line_up():
    assert align([("", "a", "run b"), ("loss", "1.5", "12"), ("elo", "-", "")]) == (
        "        a  run b\nloss  1.5     12\nelo     -"
    )


def test_a_table_in_markdown_has_a_head_a_rule_and_its_rows():
    assert markdown_table(("a", "b"), [("1", ""), ("x | y", "||")]).splitlines() == [
        "| a | b |",
        "| --- | --- |",
        "| 1 |  |",
        "| x &#124; y | &#124;&#124; |",
    ]
    assert markdown_table(["a"], []) == "| a |\n| --- |"
