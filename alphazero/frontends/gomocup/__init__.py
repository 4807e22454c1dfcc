"""The Gomocup protocol, for managers of gomoku matches."""
