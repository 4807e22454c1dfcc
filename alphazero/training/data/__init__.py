"""Game shards, the replay buffer and training targets."""
