"""KataGo's names for rules and analyses, and its JSON analysis engine."""
