"""Names of Python frames: whose code it is, and what is the same function."""

from __future__ import annotations

import re

LIBRARIES = frozenset(
    """
    torch torchvision torchaudio torchtext torchdata torchao functorch triton numpy nvtx nvidia
    apex transformer_engine flash_attn xformers PIL cv2 scipy pandas pyarrow h5py
    abc argparse ast asyncio bdb bisect bz2 cProfile codecs collections concurrent configparser
    contextlib copy copyreg csv ctypes dataclasses datetime decimal difflib dis email encodings enum
    fnmatch fractions functools gc genericpath glob gzip hashlib heapq hmac html http importlib
    inspect io json keyword linecache locale logging lzma multiprocessing ntpath numbers opcode
    operator os pathlib pdb pickle pkgutil platform posixpath pprint pstats queue random re reprlib
    runpy sched secrets selectors shutil signal site socket ssl stat statistics string struct
    subprocess sysconfig tarfile tempfile textwrap threading timeit token tokenize traceback types
    typing typing_extensions unittest urllib uuid warnings weakref xml zipfile zipimport zoneinfo
    _weakrefset _collections_abc _bootlocale
    """.split()  # noqa: SIM905 (a list of a hundred strings cannot be read)
)
"""First parts of paths that are not the user's own code: the standard library, torch and what
stands between it and the device. Traces hold paths below the roots of ``sys.path``."""

_FRAME = re.compile(r"^(?P<path>[^<].*)\(\d+\): ")
_ADDRESS = re.compile(r" at 0x[0-9a-fA-F]+")
_PACKAGES = re.compile(r"^.*/(site|dist)-packages/")


def is_own(frame: str) -> bool:
    """Whether a frame is of the user's own code: a file outside ``LIBRARIES``."""
    found = _FRAME.match(frame)
    if found is None:
        return False
    path = found["path"].replace("\\", "/")
    if re.search(r"/lib/python\d[\d.]*/(?!site-packages|dist-packages)", path):
        return False
    first = _PACKAGES.sub("", path).lstrip("/").split("/")[0]
    return first.removesuffix(".py") not in LIBRARIES


def function(frame: str) -> str:
    """The function of a frame: its name without the address of the object it is bound to."""
    return _ADDRESS.sub("", frame)
