"""Chess, and its small relatives: squares and actions, rules, notation and game."""
