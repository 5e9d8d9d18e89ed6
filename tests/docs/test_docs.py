"""The documentation holds: commands run, words are the code's, links lead somewhere."""

from __future__ import annotations

import json
import os
import re
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from docs.blocks import DOCS
from docs.generate import BUILT, PARTS, SCHEMA, built, generated
from laptime.causes.catalogue import pages
from laptime.cli import EXIT_CODES
from laptime.kernels.operations import DTYPES, LIBRARIES, OPERATIONS
from laptime.ledger.accounts import CPU_ACCOUNTS, DEVICE_ACCOUNTS
from tests.builder import SCENARIOS, TraceBuilder, Variant, write_ranks

ROOT = DOCS.parent
PAGES = [ROOT / "README.md", *sorted(DOCS.glob("*.md"))]
TEXTS = {page: page.read_text(encoding="utf-8") for page in PAGES}
FENCE = re.compile(r"^```(\w*)\n(.*?)^```$", re.MULTILINE | re.DOTALL)
COMMAND = re.compile(r"^(\$ )?((\.venv/bin/)?laptime |cat .*\| laptime )")


TRAIN = """\
import torch

model = torch.nn.Linear(8, 8)
optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
for _ in range(25):
    loss = model(torch.ones(4, 8)).sum()
    loss.backward()
    optimizer.step()
    optimizer.zero_grad()
print("trained")
"""
"""The program that the pages run."""


def _commands() -> list[str]:
    """Every shell line of the pages that calls laptime."""
    found = [
        line.strip().removeprefix("$ ").replace(".venv/bin/laptime", "laptime")
        for text in TEXTS.values()
        for language, body in FENCE.findall(text)
        if language in ("", "console", "sh")
        for line in body.splitlines()
        if COMMAND.match(line.strip())
    ]
    return list(dict.fromkeys(found))


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """What the pages' commands name: a trace and a folder of ranks."""
    made = tmp_path_factory.mktemp("docs")
    SCENARIOS["input_no_workers"](Variant()).trace.write(made / "trace.json.gz", gzip=True)

    def build(rank: int, ranks: int) -> TraceBuilder:
        return SCENARIOS["exposed_all_reduce"](Variant(rank=rank, world_size=ranks)).trace

    write_ranks(made / "ranks", 2, build)
    (made / "train.py").write_text(TRAIN, encoding="utf-8")
    return made


def test_commands_are_found() -> None:
    commands = _commands()
    assert len(commands) > 8
    assert "laptime explain trace.json.gz" in commands


@pytest.mark.parametrize("command", _commands())
def test_command_runs(command: str, folder: Path) -> None:
    if re.search(r"laptime (save|sql)|\w\.laptime", command):
        pytest.importorskip("duckdb", reason="duckdb is not installed: pip install duckdb")
    recorded = command.startswith("laptime run ")
    if recorded:
        pytest.importorskip("torch", reason="torch is not installed")
    path = f"{Path(sys.executable).parent}{os.pathsep}{os.environ.get('PATH', '')}"
    done = subprocess.run(
        ["bash", "-o", "pipefail", "-c", command],
        cwd=folder,
        env={**os.environ, "PATH": path},
        capture_output=True,
        text=True,
        timeout=120,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    assert done.stdout or ">" in command
    if recorded:  # the program's exit code is the command's: that it was explained shows on stderr
        assert "5 laps counted by laptime run" in done.stderr


@pytest.mark.parametrize("page", PAGES[1:], ids=lambda p: p.name)
def test_generated_parts_are_current(page: Path) -> None:
    assert TEXTS[page] == generated(TEXTS[page]), "run: python -m docs.generate"


def test_every_generated_part_is_shown() -> None:
    shown = re.findall(r"<!-- generated: (\S+) -->", "".join(TEXTS.values()))
    assert sorted(shown) == sorted(PARTS)
    made = re.findall(r"<!-- built: (\S+) -->", "".join(TEXTS.values()))
    assert sorted(made) == sorted(BUILT)


def test_every_account_has_its_definition() -> None:
    text = TEXTS[DOCS / "accounts.md"]
    for account in (*DEVICE_ACCOUNTS, *CPU_ACCOUNTS):
        assert f"`{account.id}`" in text
        assert account.meaning in text


def test_every_cause_has_its_page() -> None:
    text = built(TEXTS[DOCS / "causes.md"])
    for page in pages():
        assert f"{{#{page.id}}}" in text
        assert all(section.text in text for section in page.sections)


def test_every_word_of_kernel_names_is_listed() -> None:
    text = TEXTS[DOCS / "kernels.md"]
    for word in (*LIBRARIES, *OPERATIONS, *DTYPES):
        assert f"`{word}`" in text


def _fields(node: object) -> Iterator[str]:
    if isinstance(node, dict):
        yield from node.get("properties", {})
        for inner in node.values():
            yield from _fields(inner)
    elif isinstance(node, list):
        for inner in node:
            yield from _fields(inner)


def test_every_field_of_the_schema_is_documented() -> None:
    text = TEXTS[DOCS / "json.md"]
    shown = {part for name in re.findall(r"^\| `([^`]+)`", text, re.MULTILINE) for part in
             name.replace("[]", "").split(".")}  # fmt: skip
    fields = set(_fields(json.loads(SCHEMA.read_text(encoding="utf-8"))))
    assert fields
    assert fields <= shown


def test_every_exit_code_is_documented() -> None:
    text = TEXTS[DOCS / "cli.md"]
    for code in re.findall(r"^\s+(\d+)\s", EXIT_CODES, re.MULTILINE):
        assert f"| `{code}` |" in text


def _anchors(text: str) -> set[str]:
    """Anchors of a page: given ones, else made from the heading as Python-Markdown does."""
    found = set()
    for heading in re.findall(r"^#+ (.+)$", FENCE.sub("", text), re.MULTILINE):
        given = re.search(r"\{#([\w-]+)\}", heading)
        plain = re.sub(r"[^\w\s-]", "", heading.replace("`", "")).strip().lower()
        found.add(given[1] if given else re.sub(r"[-\s]+", "-", plain))
    return found


@pytest.mark.parametrize("page", PAGES, ids=lambda p: p.name)
def test_links_resolve(page: Path) -> None:
    for target in re.findall(r"(?<!!)\[[^\]]*\]\(([^)\s]+)\)", FENCE.sub("", TEXTS[page])):
        if re.match(r"[a-z]+:", target):
            continue
        file, _, anchor = target.partition("#")
        to = (page.parent / file).resolve() if file else page
        assert to.exists(), target
        if anchor:
            assert anchor in _anchors(built(to.read_text(encoding="utf-8"))), target


def test_nothing_is_fetched_from_elsewhere() -> None:
    config = (ROOT / "mkdocs.yml").read_text(encoding="utf-8")
    assert "font: false" in config
    assert "http" not in config
    for text in TEXTS.values():
        assert not re.search(r"!\[[^\]]*\]\(https?:|<(img|script|iframe|link)\b", text)
