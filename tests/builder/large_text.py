"""The rows of large traces, as Kineto of 2025 writes them: templates for ``%``.

A template with ``%%`` in it is filled twice: with a block's names, then with each lap's numbers.
"""

from __future__ import annotations

HEAD = """
{
  "schemaVersion": 1,
  "deviceProperties": [
    {
      "id": 0, "name": "NVIDIA H100 80GB HBM3", "totalGlobalMem": 85029158912,
      "computeMajor": 9, "computeMinor": 0,
      "maxThreadsPerBlock": 1024, "maxThreadsPerMultiprocessor": 2048,
      "regsPerBlock": 65536, "warpSize": 32,
      "sharedMemPerBlock": 49152, "numSms": 132
    }
  ],
  "cupti_version": 24, "cuda_runtime_version": 12060, "cuda_driver_version": 12080,
  "distributedInfo": {"backend": "nccl", "rank": 0, "world_size": 8},
  "record_shapes": 1, "with_stack": 1, "profile_memory": 1,
  "traceEvents": [
"""
OP = """  {
    "ph": "X", "cat": "cpu_op", "name": %s, "pid": 4100, "tid": %d,
    "ts": %%d.%%03d, "dur": %%d.%%03d,
    "args": {
      "External id": %%d,"Record function id": %%d, %s, "Sequence number": %%d, "Ev Idx": %%d
    }
  },
"""
FRAME = """  {
    "ph": "X", "cat": "python_function", "name": %s, "pid": 4100, "tid": 4100,
    "ts": %%d.%%03d, "dur": %%d.%%03d,
    "args": {
      "Python parent id": %%d, "Python id": %%d, "Ev Idx": %%d
    }
  },
"""
WORK = """  {
    "ph": "X", "cat": "kernel", "name": %s, "pid": 0, "tid": %d,
    "ts": %%d.%%03d, "dur": %%d.%%03d,
    "args": {
      "External id": %%d,
      "queued": 0, "device": 0, "context": 1,
      "stream": %d, "correlation": %%d,
      %s
    }
  },
  {
    "ph": "f", "id": %%d, "pid": 0, "tid": %d, "ts": %%d.%%03d,
    "cat": "ac2g", "name": "ac2g", "bp": "e"
  },
  {
    "ph": "X", "cat": "cuda_runtime", "name": "%s", "pid": 4100, "tid": %d,
    "ts": %%d.%%03d, "dur": %%d.%%03d,
    "args": {
      "External id": %%d,
      "cbid": 211, "correlation": %%d
    }
  },
  {
    "ph": "s", "id": %%d, "pid": 4100, "tid": %d, "ts": %%d.%%03d,
    "cat": "ac2g", "name": "ac2g"
  },
"""
MEMORY = """  {
    "ph": "i", "cat": "cpu_instant_event", "s": "t", "name": "[memory]",
    "pid": 4100, "tid": 4100,
    "ts": %d.%03d,
    "args": {
      "Total Reserved": 68719476736, "Total Allocated": %d, "Bytes": %d, "Device Id": 0, "Device Type": 1, "Addr": %d, "Ev Idx": %d
    }
  },
"""  # noqa: E501
SPAN = """  {
    "ph": "X", "cat": "%s", "name": %s, "pid": %s, "tid": %s,
    "ts": %d.%03d, "dur": %d.%03d,
    "args": {
      %s
    }
  },
"""
TAIL = """  {
    "name": "process_name", "ph": "M", "ts": %d.%03d, "pid": 4100, "tid": 0,
    "args": {
      "name": "python3"
    }
  },
  {
    "name": "Record Window End", "ph": "i", "s": "g",
    "pid": "", "tid": "", "ts": %d.%03d
  }
  ],
  "traceName": "rank-0.pt.trace.json",
  "displayTimeUnit": "ms",
  "baseTimeNanoseconds": %d
}
"""
