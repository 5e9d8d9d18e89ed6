"""A loop that ends inside the window, on a machine that takes a minute to write a trace."""

import sys
import time

import torch.profiler
from endings import main

export = torch.profiler.profiler._KinetoProfile.export_chrome_trace


def slowly(self, path):
    time.sleep(60)
    return export(self, path)


torch.profiler.profiler._KinetoProfile.export_chrome_trace = slowly

if __name__ == "__main__":
    main(sys.argv[1])
