"""Files, interrupts, compilation and arrays: what every package uses."""
