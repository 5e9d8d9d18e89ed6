"""Digits of the truth file that are wrong, each with the exact value beside it.

All are lengths that its script took as a difference of doubles: see ``in_doubles``, which
reproduces every one of them. ``(printed, exact)`` in microseconds.
"""

from __future__ import annotations

ERRORS: dict[str, dict[str, tuple[float, float]]] = {
    "kineto/hta/ns_resolution_trace/rank-0.Apr_03_18_51_38.1102.pt.trace.json.gz": {
        "kernel_sum_us": (468173.25, 468153.602),
        "kernel_union_us": (468173.25, 468153.602),
        "gpu_busy_union_us": (472462.5, 472454.441),
        "gpu_busy_inside_steps_us": (384057.25, 384054.17),
        "gpu_span_us": (480029.25, 480029.179),
    },
    "kineto/tracelens/b200/eager_trace.json.gz": {
        "kernel_sum_us": (10862.914, 10862.916),
        "kernel_union_us": (10793.636, 10793.638),
        "gpu_busy_union_us": (11596.479, 11596.482),
    },
    "kineto/tracelens/h100/Falconsai_nsfw_image_detection__1016002.json.gz": {
        "kernel_sum_us": (1220.925, 1220.926),
        "kernel_union_us": (1220.925, 1220.926),
        "gpu_busy_union_us": (1225.309, 1225.31),
        "gpu_busy_inside_steps_us": (1225.309, 1225.31),
    },
    "kineto/tracelens/h100/Qwen_Qwen1.5-0.5B-Chat__1016005.json.gz": {
        "kernel_sum_us": (45432.706, 45432.698),
        "kernel_union_us": (45432.706, 45432.698),
        "gpu_busy_union_us": (45647.311, 45647.3),
        "gpu_busy_inside_steps_us": (43274.96, 43274.95),
    },
    "kineto/tracelens/h100/gaunernst_bert-small-uncased__1016001.json.gz": {
        "kernel_sum_us": (307.198, 307.197),
        "kernel_union_us": (307.198, 307.197),
        "gpu_busy_union_us": (309.438, 309.437),
        "gpu_busy_inside_steps_us": (309.438, 309.437),
    },
    "kineto/tracelens/inference/sglang_decode/capture_traces/bs_32_rank0.json.gz": {
        "kernel_sum_us": (11.016, 11.015),
        "kernel_union_us": (11.016, 11.015),
        "gpu_busy_union_us": (11.016, 11.015),
        "gpu_busy_inside_steps_us": (11.016, 11.015),
        "gpu_span_us": (11.017, 11.016),
    },
    "kineto/tracelens/inference/sglang_decode/sglang_Qwen3-8B_decode.json.gz": {
        "kernel_sum_us": (9765.44, 9765.437),
        "kernel_union_us": (9759.752, 9759.749),
        "gpu_busy_union_us": (9772.929, 9772.926),
    },
    "kineto/tracelens/inference/vllm_decode_full/capture_traces/"
    "graph_capture_rank_0.1773709742341309550.pt.trace.json.gz": {
        "gpu_busy_union_us": (28.829, 28.83),
        "gpu_span_us": (57562.938, 57562.939),
    },
    "kineto/tracelens/inference/vllm_decode_full/graph_execution.json.gz": {
        "kernel_sum_us": (10674.507, 10674.517),
        "kernel_union_us": (10674.507, 10674.517),
        "gpu_busy_union_us": (10717.697, 10717.708),
    },
    "kineto/tracelens/mi210/gpu_only_trace/gpu_only_trace.json.gz": {
        "kernel_sum_us": (5343.37, 5343.422),
        "kernel_union_us": (5343.37, 5343.422),
        "gpu_busy_union_us": (5343.37, 5343.422),
    },
    "kineto/tracelens/mi300/Qwen_Qwen1.5-0.5B-Chat__1016005.json.gz": {
        "kernel_sum_us": (43062.032, 43062.042),
        "kernel_union_us": (43062.032, 43062.042),
        "gpu_busy_union_us": (43062.792, 43062.802),
        "gpu_busy_inside_steps_us": (38721.622, 38721.629),
    },
    "kineto/tracelens/mi300/resnet_act_checkpoint.json.gz": {
        "kernel_sum_us": (97255.875, 97255.826),
        "kernel_union_us": (81364.537, 81364.527),
        "gpu_busy_union_us": (84002.069, 84002.056),
        "nccl_exposed_us": (55625.186, 55625.224),
    },
}
