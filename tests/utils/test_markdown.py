"""A Markdown table: a head, a rule, and a line for each row."""

from alphazero.utils.markdown import markdown_table


def test_a_table_has_a_head_a_rule_and_its_rows() -> None:
    assert markdown_table(("a", "b"), [("1", ""), ("x | y", "||")]).splitlines() == [
        "| a | b |",
        "| --- | --- |",
        "| 1 |  |",
        "| x &#124; y | &#124;&#124; |",
    ]
    assert markdown_table(["a"], []) == "| a |\n| --- |"
