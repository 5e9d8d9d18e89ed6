"""Refresh the parts of the pages that say what the code says: ``python -m docs.generate``.

A test fails while a page differs from what this would write.
"""

from __future__ import annotations

import argparse
import json
import re
from collections.abc import Callable, Iterable, Mapping, Sequence
from pathlib import Path
from types import ModuleType
from typing import Any

from docs.blocks import DOCS, cell, refreshed, table
from laptime.causes import limits
from laptime.causes.case import SUPPLY
from laptime.causes.catalogue import Page, pages
from laptime.causes.limits import Limit
from laptime.cli import EXIT_CODES, causes, explain, run, save, scrub, sql
from laptime.evidence.kineto_words import CATEGORIES
from laptime.kernels.operations import COMM_OPERATIONS, DTYPES, LIBRARIES, OPERATIONS
from laptime.ledger.accounts import CPU_ACCOUNTS, DEVICE_ACCOUNTS, MERGES, Account
from laptime.ledger.loaders import RECOGNISED
from laptime.model.rows import Kind
from laptime.report import as_json
from laptime.tables import LAYOUTS

SCHEMA = Path(as_json.__file__).with_name("explain-1.schema.json")


def main() -> None:
    """Write every page that changes, and name it."""
    for page in sorted(DOCS.glob("*.md")):
        text = page.read_text(encoding="utf-8")
        new = generated(text)
        if new != text:
            page.write_text(new, encoding="utf-8")
            print(page.name)


def generated(text: str) -> str:
    """A page with its generated parts as they should be."""
    return refreshed(text, "generated", lambda name: PARTS[name]())


def _accounts(accounts: Sequence[Account]) -> str:
    rows = []
    for account in accounts:
        parent = f"`{account.parent}`" if account.parent else ""
        holds = ", ".join(f"`{i}`" for i in MERGES.get(account.id, ()))
        rows.append([f"`{account.id}`", parent, account.title, cell(account.meaning), holds])
    grouped = any(account.parent for account in accounts)
    head = ["account", "part of", "title", "definition", "may also hold"]
    kept = [i for i in range(len(head)) if grouped or i != 1]
    return table([head[i] for i in kept], [[row[i] for i in kept] for row in rows])


def built(text: str) -> str:
    """A page as the site shows it: with the parts that are made when it is built.

    These change with every cause. Kept in the page, they would bring any two authors into conflict.
    """
    return refreshed(text, "built", lambda name: BUILT[name]())


def _causes() -> str:
    return "\n\n".join(_cause(page) for page in pages())


def _cause(page: Page) -> str:
    """A cause's page: a title, then headed paragraphs."""
    parts = [f"## `{page.id}`: {page.title} {{#{page.id}}}"]
    needs = ", ".join(f"`{need}`" for need, _ in page.needs) or "nothing in particular"
    quiet = ", ".join(f"`{s}`" for s in page.explains)
    parts.append(
        f"Layer: {page.layer}. Needs: {needs}." + (f" Explains: {quiet}." if quiet else "")
    )
    for section in page.sections:
        parts += [f"**{section.heading}**", section.text]
    return "\n\n".join(parts)


def _limits() -> str:
    rows = [
        [f"`{name}`", f"{limit.value:g} {limit.unit}", cell(limit.source), cell(limit.measured)]
        for name, limit in vars(limits).items()
        if isinstance(limit, Limit)
    ]
    return table(["limit", "value", "source", "measured"], rows)


def _needs() -> str:
    return table(
        ["need", "what supplies it"], [[f"`{n.value}`", cell(s)] for n, s in SUPPLY.items()]
    )


def _loaders() -> str:
    rows = [[f"`{known.example}`", cell(known.what)] for known in RECOGNISED]
    return table(["a name like", "what it is"], rows)


def _words(words: Mapping[str, str], only: Iterable[str] | None = None) -> str:
    chosen = words if only is None else sorted(only)
    return table(["word", "meaning"], [[f"`{w}`", cell(words[w])] for w in chosen])


def _dtypes() -> str:
    return ", ".join(f"`{d}`" for d in sorted(DTYPES))


def _options(command: ModuleType) -> str:
    parser = argparse.ArgumentParser(add_help=False)
    command.add_arguments(parser)
    rows = []
    for action in parser._actions:
        several = " ..." if action.nargs == "+" else ""
        name = ", ".join(action.option_strings) or f"{action.metavar}{several}"
        metavar = action.metavar if action.option_strings and action.nargs != 0 else None
        rows.append([f"`{name}{f' {metavar}' if metavar else ''}`", cell(action.help or "")])
    return table(["argument", "meaning"], rows)


def _tables() -> str:
    parts = []
    for name, layout in LAYOUTS.items():
        rows = [
            [
                f"`{c.name}`",
                c.type + (", may be null" if c.nullable else ""),
                c.unit or "",
                cell(c.meaning),
            ]
            for c in layout.columns
        ]
        head = ["column", "type", "unit", "meaning"]
        parts.append(f"### `{name}`\n\n{layout.meaning}\n\n{table(head, rows)}")
    return "\n\n".join(parts)


def _exit_codes() -> str:
    found = re.findall(r"^\s+(\d+)\s+(.*)$", EXIT_CODES, re.MULTILINE)
    return table(["code", "meaning"], [[f"`{n}`", cell(text)] for n, text in found])


def _categories() -> str:
    by_kind: dict[Kind, list[str]] = {}
    for category, kind in CATEGORIES.items():
        by_kind.setdefault(kind, []).append(f"`{category}`")
    rows = [
        [kind.name.lower().replace("_", " "), ", ".join(names)] for kind, names in by_kind.items()
    ]
    return table(["read as", "categories"], rows)


def _schema() -> str:
    schema = json.loads(SCHEMA.read_text(encoding="utf-8"))
    rows: list[list[str]] = []
    _fields(schema, "", schema["$defs"], rows)
    return table(["field", "type", "meaning"], rows)


def _fields(node: Mapping[str, Any], path: str, defs: Mapping[str, Any], rows: Any) -> None:
    for name, found in node.get("properties", {}).items():
        field = _resolved(found, defs)
        here = f"{path}{name}"
        kind, inner, suffix = _type(field, defs)
        note = found.get("description", field.get("description", ""))
        rows.append([f"`{here}{suffix}`", cell(kind), cell(note)])
        if inner:
            _fields(inner, f"{here}{suffix}.", defs, rows)


def _resolved(node: Mapping[str, Any], defs: Mapping[str, Any]) -> Mapping[str, Any]:
    ref = node.get("$ref")
    return defs[ref.rsplit("/", 1)[1]] if isinstance(ref, str) else node


def _type(
    node: Mapping[str, Any], defs: Mapping[str, Any]
) -> tuple[str, Mapping[str, Any] | None, str]:
    """How a field's type reads, the object inside it if there is one, and what its name ends in."""
    if "const" in node:
        return f'always "{node["const"]}"', None, ""
    if "enum" in node:
        return ", ".join(f'"{v}"' for v in node["enum"]), None, ""
    if "anyOf" in node:
        several = [_type(_resolved(one, defs), defs) for one in node["anyOf"]]
        inner = next((found for _, found, _ in several if found), None)
        return " or ".join(kind for kind, _, _ in several), inner, ""
    kind = node["type"]
    if kind == "array":
        what, inner, _ = _type(_resolved(node["items"], defs), defs)
        return f"list of {what}", inner, "[]"
    if kind == "object":
        return "object", node, ""
    words = " or ".join(kind) if isinstance(kind, list) else kind
    if "minimum" in node and "maximum" in node:
        words += f", {node['minimum']} to {node['maximum']}"
    return words, None, ""


PARTS: Mapping[str, Callable[[], str]] = {
    "device-accounts": lambda: _accounts(DEVICE_ACCOUNTS),
    "cpu-accounts": lambda: _accounts(CPU_ACCOUNTS),
    "needs": _needs,
    "loaders": _loaders,
    "libraries": lambda: _words(LIBRARIES),
    "operations": lambda: _words(OPERATIONS, OPERATIONS.keys() - COMM_OPERATIONS),
    "comm-operations": lambda: _words(OPERATIONS, COMM_OPERATIONS),
    "dtypes": _dtypes,
    "options": lambda: _options(explain),
    "run-options": lambda: _options(run),
    "save-options": lambda: _options(save),
    "scrub-options": lambda: _options(scrub),
    "causes-options": lambda: _options(causes),
    "sql-options": lambda: _options(sql),
    "tables": _tables,
    "exit-codes": _exit_codes,
    "categories": _categories,
    "schema": _schema,
}

BUILT: Mapping[str, Callable[[], str]] = {"causes": _causes, "limits": _limits}

if __name__ == "__main__":
    main()
