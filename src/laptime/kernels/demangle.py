"""Kernel names cut into a qualified function name and its template arguments.

Three spellings of one C++ kernel reach a trace: mangled (`_ZN2at6native...`, common on ROCm),
demangled by libiberty or LLVM (`void at::native::(anonymous namespace)::f<4, float>(int)`), and
demangled by Nsight Systems (`void at::native::<unnamed>::f<(int)4, float>(int)`). All become
`Parts`. The mangled reader follows the Itanium C++ ABI, section 5.1, only as far as rules need:
it reads nested names, template arguments, builtin types and literals, leaves substitutions out
(what they stand for is a repetition), stops after the name (no parameters), and never fails: a
name cut off in the middle, as some profilers leave it, gives what was read.
"""

from __future__ import annotations

import re
from dataclasses import dataclass

# Rules look at the function and the first template arguments: the rest repeats them.
_HEAD_CHARS = 900
_MANGLED_CHARS = 480

_BUILTIN = {
    "v": "void", "w": "wchar_t", "b": "bool", "c": "char", "a": "signed char",
    "h": "unsigned char", "s": "short", "t": "unsigned short", "i": "int", "j": "unsigned int",
    "l": "long", "m": "unsigned long", "x": "long long", "y": "unsigned long long",
    "f": "float", "d": "double", "e": "long double", "z": "...",
    "DF16_": "_Float16", "DF16b": "__bf16", "Dh": "half", "Dn": "nullptr_t",
}  # fmt: skip

_TOKEN = re.compile(
    r"""(?P<len>\d{1,6})                 # length-prefixed identifier (length checked by hand)
    | L(?P<lit>[abcdhijlmstxy])(?P<val>n?\d+)E   # literal of a builtin type
    | (?P<sub>S(?:[0-9A-Z]*_|[tabsiod])|T[0-9A-Z]*_)
    | (?P<fun>L_Z|_Z|Z)
    | (?P<open>[NIJLXF]|Ul)
    | (?P<close>E)
    | (?P<skip>[PRKOV]|Dp|D[tT]|T[ny]|ad|cl|C[123]|D[012])
    | (?P<type>DF16_|DF16b|Dh|Dn|[vwbcahstijlmxyfdez])
    """,
    re.X,
)

_NOISE = re.compile(
    r"\(anonymous namespace\)::|<unnamed>::|\{anonymous\}::|_GLOBAL__N_\d*::"
    r"|\((?:int|bool|unsigned int|long|unsigned long|unsigned|short|char|unsigned char)\)(?=[-\d])"
)
_PATH = re.compile(r"(?:static |__global__ )*(?:void )?((?:\w+::)*\w+)")
_ENABLE_IF = re.compile(r"^(?:typename )?std::enable_if<.*?>::type (?=[\w:]+[<(])")


@dataclass(frozen=True, slots=True)
class Parts:
    """A name cut up. `path`: qualified function name without templates; `args`: what follows it
    (template arguments and possibly parameters), without anonymous namespaces and casts, cut to
    a bounded length; `template`: whether template arguments follow the path directly."""

    name: str
    path: str
    args: str

    @property
    def template(self) -> bool:
        """Whether template arguments were read."""
        return self.args.startswith("<")


def split(name: str) -> Parts:
    """Cut a kernel name, mangled or not. Never raises."""
    text = name
    if name.startswith("_Z"):
        text = read_mangled(name)
    elif name.startswith("std::enable_if<"):
        text = _ENABLE_IF.sub("", name[:2000], count=1)
    text = text[:_HEAD_CHARS]
    if "(" in text or "<u" in text or "_GLOBAL_" in text or "{a" in text:
        text = _NOISE.sub("", text)
    found = _PATH.match(text)
    if found is None:
        return Parts(name, text, "")
    return Parts(name, found[1], text[found.end() :])


def read_mangled(name: str) -> str:
    """The function name of a mangled symbol with its template arguments, in demangled spelling.

    Substitutions are left out, parameters are not read. What cannot be read ends the text."""
    pos = 2
    end = min(len(name), _MANGLED_CHARS)
    out: list[str] = []
    stack: list[str] = []  # N nested, I template, J pack, L literal, X expression, Ul closure
    fresh = True  # nothing emitted yet in this list item
    joined = False  # the next identifier continues a qualified name
    match = _TOKEN.match
    while pos < end:
        token = match(name, pos)
        if token is None:
            break
        kind = token.lastgroup
        pos = token.end()
        top = stack[-1] if stack else ""
        if kind == "len":
            if top == "L" and not fresh:  # value of an enumeration literal
                continue
            size = int(token["len"])
            word = name[pos : pos + size]
            pos += size
            if word.startswith("_GLOBAL__N_"):
                continue
            if joined:
                out.append("::")
            elif not fresh:
                out.append(", ")
            out.append(word)
            fresh = False
            joined = top == "N"
            if not stack and name[pos : pos + 1] != "I":
                break
        elif kind == "open":
            what = token["open"]
            stack.append(what)
            if what == "I":
                out.append("<")
                fresh, joined = True, False
            elif what == "N":
                joined = False
                while pos < end and name[pos] in "rVK":
                    pos += 1
            elif what == "L":
                if not fresh:
                    out.append(", ")
                fresh = True
        elif kind == "close":
            if not stack:
                break
            what = stack.pop()
            if what == "I":
                out.append(">")
                joined = bool(stack) and stack[-1] == "N"
            else:
                joined = False
            if what == "Ul":  # the number of a closure type
                while pos < end and name[pos].isdigit():
                    pos += 1
                pos += 1
            fresh = False
            if not stack:
                break
        elif kind == "type" or kind == "val":
            if kind == "type":
                word = _BUILTIN[token["type"]]
            else:
                word = _literal(token["lit"], token["val"])
            out.append(word if fresh else ", " + word)
            fresh = False
        elif kind == "sub" and top == "N" and token["sub"] == "St":
            out.append("std" if fresh else ", std")
            fresh, joined = False, True
        elif kind == "fun":
            stack.append("X")
    return "".join(out)


def _literal(kind: str, value: str) -> str:
    if kind == "b":
        return "true" if value == "1" else "false"
    return value.replace("n", "-")
