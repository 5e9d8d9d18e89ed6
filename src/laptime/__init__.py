"""laptime: where every nanosecond of a training step or engine iteration went, and why."""
