"""Code that runs right after the program has imported a module; nothing is imported for it."""

from __future__ import annotations

import sys

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any, Callable


class _After:
    """A finder that lets the others find, and notes when a wanted module has been executed."""

    def __init__(self, wanted: dict[str, Callable[[Any], None]]) -> None:
        self.wanted = wanted

    def find_spec(self, name: str, path: Any = None, target: Any = None) -> Any:
        then = self.wanted.get(name)
        if then is None:
            return None
        for finder in list(sys.meta_path):
            find = getattr(finder, "find_spec", None)
            spec = find(name, path, target) if find is not None and finder is not self else None
            if spec is not None:
                loader = spec.loader
                if loader is not None and hasattr(loader, "exec_module"):
                    self._after_exec(loader, name, then)
                return spec
        return None

    def _after_exec(self, loader: Any, name: str, then: Callable[[Any], None]) -> None:
        execute = loader.exec_module

        def exec_module(module: Any) -> None:
            # The loader is as it was before the module sees it.
            try:
                del loader.exec_module
            except AttributeError:
                pass
            execute(module)
            if self.wanted.pop(name, None) is not None:
                then(module)
            if not self.wanted and self in sys.meta_path:
                sys.meta_path.remove(self)

        loader.exec_module = exec_module


def when_imported(wanted: dict[str, Callable[[Any], None]]) -> None:
    """Call ``wanted[name](module)`` once, after each of these modules has been executed."""
    sys.meta_path.insert(0, _After(dict(wanted)))
