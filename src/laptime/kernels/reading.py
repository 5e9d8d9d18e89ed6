"""Readers: what the inside of a name says beyond its library and operation.

A reader takes the `Parts` of a name and gives a `Reading`; a field it cannot see stays None. A
rule names at most one reader. Spellings of the vendors are described beside each reader, learnt
from names in published traces and from the naming code of the open libraries.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from typing import NamedTuple

from laptime.kernels.demangle import Parts


class Reading(NamedTuple):
    """What a reader saw. `operation` and `library` override the rule's when they are set."""

    dtype: str | None = None
    tile: str | None = None
    tensor_core: bool | None = None
    arch: str | None = None
    operation: str | None = None
    library: str | None = None


NOTHING = Reading()

_TYPES = {
    "float": "fp32", "double": "fp64", "half": "fp16", "__half": "fp16", "Half": "fp16",
    "half_t": "fp16", "_Float16": "fp16", "__half2": "fp16", "rocblas_half": "fp16",
    "BFloat16": "bf16", "__nv_bfloat16": "bf16", "nv_bfloat16": "bf16", "bfloat16_t": "bf16",
    "__hip_bfloat16": "bf16", "hip_bfloat16": "bf16", "__bf16": "bf16", "bhalf_t": "bf16",
    "rocblas_bfloat16": "bf16", "__nv_bfloat162": "bf16", "bfloat16": "bf16", "bf16_t": "bf16",
    "tfloat32_t": "tf32",
    "Float8_e4m3fn": "fp8", "Float8_e5m2": "fp8", "Float8_e4m3fnuz": "fp8",
    "Float8_e5m2fnuz": "fp8", "__nv_fp8_e4m3": "fp8", "__nv_fp8_e5m2": "fp8",
    "float_e4m3_t": "fp8", "float_e5m2_t": "fp8", "__hip_fp8_e4m3_fnuz": "fp8",
    "__hip_fp8_e4m3": "fp8", "fp8_t": "fp8", "float_e2m1_t": "fp4", "__nv_fp4_e2m1": "fp4",
    "long": "int64", "int": "int32", "short": "int16", "signed char": "int8", "int8_t": "int8",
    "unsigned char": "uint8", "bool": "bool", "int64_t": "int64", "int32_t": "int32",
    "uint8_t": "uint8",
}  # fmt: skip
_FLOATING = {k: v for k, v in _TYPES.items() if not v.startswith(("int", "uint", "bool"))}
# A sized or opaque element hides its type: reading on would find the type of an index.
_HIDING = ("OpaqueType", "unsigned int", "unsigned long", "unsigned short", "ushort", "long long")


def _any_of(words: dict[str, str], *more: str) -> re.Pattern[str]:
    names = sorted([*words, *more], key=len, reverse=True)
    return re.compile(r"(?<![\w])(" + "|".join(names) + r")(?![\w]| ?\*| ?const ?\*| const\*)")


_FIRST_ANY = _any_of(_TYPES, *_HIDING)
_FIRST_FLOATING = _any_of(_FLOATING)


def template_of(parts: Parts) -> str:
    """The template arguments, "" when there are none."""
    if not parts.args.startswith("<"):
        return ""
    end = parts.args.find(">(")
    return parts.args if end < 0 else parts.args[: end + 1]


def first_type(parts: Parts) -> Reading:
    """The first element type among the template arguments, integers included."""
    found = _FIRST_ANY.search(template_of(parts))
    return Reading(dtype=_TYPES.get(found[1])) if found else NOTHING


def first_floating(parts: Parts) -> Reading:
    """The first floating-point type among the template arguments (index types skipped)."""
    found = _FIRST_FLOATING.search(template_of(parts))
    return Reading(dtype=_TYPES[found[1]]) if found else NOTHING


def simt_floating(parts: Parts) -> Reading:
    """As `first_floating`, for kernels known to run on ordinary arithmetic units."""
    return first_floating(parts)._replace(tensor_core=False)


_WORDS = (
    (re.compile(r"fp4|e2m1|(?<![a-z0-9])f4(?!\d)"), "fp4"),
    (re.compile(r"e4m3|e5m2|fp8|(?<![a-z0-9])f8"), "fp8"),
    (re.compile(r"tf32"), "tf32"),
    (re.compile(r"bf16|bfloat16"), "bf16"),
    (re.compile(r"(?<!b)f16|fp16|(?<![a-z])half"), "fp16"),
    (re.compile(r"(?<!t)f32|fp32"), "fp32"),
    (re.compile(r"(?<![a-z])int8|(?<![a-z0-9])i8(?!\d)"), "int8"),
)


def first_word(parts: Parts) -> Reading:
    """The first data-type word (bf16, fp16, f16, e4m3, ...) in a plain C name."""
    text = parts.path.lower()
    best: tuple[int, str] | None = None
    for pattern, dtype in _WORDS:
        found = pattern.search(text)
        if found and (best is None or found.start() < best[0]):
            best = (found.start(), dtype)
    return Reading(dtype=best[1]) if best else NOTHING


def only_word(parts: Parts) -> Reading:
    """The data-type word of a plain C name that holds words of one type only."""
    text = parts.path.lower()
    seen = {dtype for pattern, dtype in _WORDS if pattern.search(text)}
    return Reading(dtype=seen.pop()) if len(seen) == 1 else NOTHING


def any_word(parts: Parts) -> Reading:
    """First floating template type, else the only data-type word of the name."""
    seen = first_floating(parts)
    return seen if seen.dtype else only_word(parts)


_BACKWARD = re.compile(r"[bB]ackward|[bB]wd|_b(?:w|prop|ack)(?:_|\b)|[gG]rad")


def either_way(forward: str) -> Callable[[Parts], Reading]:
    """A reader of both directions of an operation: `forward`, or `<forward>_backward` where the
    function name says so; with the first floating template type."""

    def read(parts: Parts) -> Reading:
        back = _BACKWARD.search(parts.path, parts.path.rfind(":") + 1)
        operation = f"{forward}_backward" if back else forward
        return Reading(dtype=first_floating(parts).dtype, operation=operation)

    return read
