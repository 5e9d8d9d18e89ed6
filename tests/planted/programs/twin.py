"""What the programs share: the switch between the twins, drawn sizes, and their own clock."""

import argparse
import atexit
import json
import random
import time


class Twin:
    """The arguments of a program. Both twins of a seed draw the same sizes."""

    def __init__(self):
        parser = argparse.ArgumentParser()
        which = parser.add_mutually_exclusive_group(required=True)
        which.add_argument("--planted", action="store_true")
        which.add_argument("--clean", action="store_true")
        parser.add_argument("--seed", type=int, default=0)
        parser.add_argument("--laps", type=int, default=36)
        parser.add_argument("--told", help="file for the clock and what was drawn")
        args = parser.parse_args()
        self.planted, self.laps, self.seed = args.planted, args.laps, args.seed
        self.path = args.told
        self.rng = random.Random(args.seed)
        self.drawn, self.ends_ns = {}, [time.perf_counter_ns()]
        if self.path:
            atexit.register(self.tell)

    def draw(self, name, low, high):
        """A drawn whole number, both ends included; numbers with a point give one with a point."""
        whole = isinstance(low, int)
        value = self.rng.randint(low, high) if whole else round(self.rng.uniform(low, high), 4)
        self.drawn[name] = value
        return value

    def pick(self, name, *choices):
        self.drawn[name] = self.rng.choice(choices)
        return self.drawn[name]

    def lap(self):
        """A lap ends; called once in each turn of the loop."""
        self.ends_ns.append(time.perf_counter_ns())

    def tell(self):
        if len(self.ends_ns) > 1:  # loader workers and helpers inherit the hook
            with open(self.path, "w") as file:
                json.dump({"ends_ns": self.ends_ns, "drawn": self.drawn}, file)
