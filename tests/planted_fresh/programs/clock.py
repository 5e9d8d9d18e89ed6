"""The switch between the twins, the seed, and the program's own clock of its laps."""

import argparse
import atexit
import json
import os
import random
import time


class Clock:
    def __init__(self):
        parser = argparse.ArgumentParser()
        parser.add_argument("--planted", action="store_true", help="with the fault (default)")
        parser.add_argument("--clean", action="store_true", help="without the fault")
        parser.add_argument("--seed", type=int, default=0)
        parser.add_argument("--laps", type=int, default=36)
        parser.add_argument("--told", help="file for the clock and what was drawn")
        args = parser.parse_args()
        self.clean, self.laps, self.path = args.clean, args.laps, args.told
        self.rng, self.drawn = random.Random(args.seed), {}
        self.ends_ns = [time.perf_counter_ns()]
        if self.path and os.environ.get("RANK", "0") == "0":
            atexit.register(self.tell, os.getpid())

    def draw(self, name, low, high):
        self.drawn[name] = self.rng.randint(low, high)
        return self.drawn[name]

    def lap(self):
        self.ends_ns.append(time.perf_counter_ns())

    def tell(self, pid):
        if os.getpid() == pid:  # forked loader workers inherit the hook
            with open(self.path, "w") as file:
                json.dump({"ends_ns": self.ends_ns, "drawn": self.drawn}, file)
