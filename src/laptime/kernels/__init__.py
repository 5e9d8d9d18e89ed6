"""Kernel names decoded."""

from laptime.kernels.decoding import decode, is_comm
from laptime.kernels.names import UNKNOWN, KernelName

__all__ = ["UNKNOWN", "KernelName", "decode", "is_comm"]
