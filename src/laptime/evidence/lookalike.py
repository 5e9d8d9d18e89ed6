"""What a file that no format recognises looks like, so that the error can name the mend."""

from __future__ import annotations

import re


def looks_like(head: bytes, name: str) -> str:
    """One phrase: what the text seems to be, and what to do instead where that is known."""
    lower = name.lower()
    text = head.lstrip(b"\xef\xbb\xbf \t\r\n")
    for test, phrase in (
        (head.startswith(b"SQLite format 3\0"), _SQLITE),
        (lower.endswith((".nsys-rep", ".qdrep", ".qdstrm")), _NSYS_REP),
        (lower.endswith((".ncu-rep", ".ncu-repz")) or head.startswith(b"NVR\0"), _NCU_REP),
        (re.match(rb"(?i)(<!doctype html|<html|<head|<\?xml[^>]*>\s*<html)", text), _HTML),
        (not head.strip(b"\0"), "nothing but zero bytes (a disk that filled up?); record it again"),
        (re.match(rb"\x80[\x02-\x05]", head), _PICKLE),
        (lower.endswith((".pftrace", ".perfetto-trace")), "a Perfetto protobuf trace"),
        (head.startswith(b"\x7fELF"), "a program or library (ELF)"),
        (head.startswith(b"%PDF"), "a PDF document"),
        (head.startswith((b"\x89PNG", b"\xff\xd8\xff", b"GIF8")), "a picture"),
        (head.startswith(b"PAR1"), "a Parquet table"),
        (head[257:262] == b"ustar", "a tar archive; unpack it and give the trace inside"),
        (head.startswith(b"version https://git-lfs"), _LFS),
        (b'"$schema": "https://www.speedscope' in head, "a speedscope profile"),
        (text.startswith(b"<"), "XML"),
        (b"NCCL INFO" in head or b"RCCL INFO" in head, "an NCCL log"),
        (b"nThread" in head and b"minBytes" in head, "the output of nccl-tests"),
        (text[:1] in (b"{", b"["), "JSON without trace events"),
        (not text, "nothing but white space"),
    ):
        if test:
            return phrase
    if b"\0" in head:
        return "binary data of no kind that laptime knows"
    return "plain text"


_SQLITE = "an sqlite database (an Nsight Systems export?)"
_NSYS_REP = "an Nsight Systems report"
_NCU_REP = "an Nsight Compute report"
_HTML = "an HTML page (an error or login page saved in its place?); download the file again"
_PICKLE = "a pickle (a memory snapshot or flight record?), which is not opened for safety"
_LFS = "a Git LFS pointer; fetch the file itself (git lfs pull)"
