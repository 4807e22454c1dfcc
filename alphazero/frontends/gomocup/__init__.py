"""The Gomocup protocol front end, for gomoku match managers."""
