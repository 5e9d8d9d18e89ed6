"""The door by which laptime's probe enters a Python process: one folder on PYTHONPATH.

Python imports a module of this name while it starts. It takes its folder off ``sys.path``, lets the
probe in, and then gives way to the ``sitecustomize`` that would have been found without it, if any.
Nothing is imported here that the interpreter has not loaded already: a module of the user's may
have the name of one of the standard library, and must still be the one that is found.
"""

import sys


def _enter() -> None:
    here = __file__.rpartition("/")[0]
    try:
        import _laptime_probe

        _laptime_probe.enter()
    except BaseException:  # a broken probe must not cost the user the run
        pass
    finally:
        sys.path[:] = [p for p in sys.path if p != here]
        sys.path_importer_cache.pop(here, None)


def _give_way() -> None:
    """Become the user's own sitecustomize, or be absent as it would have been."""
    import _frozen_importlib
    import _frozen_importlib_external

    mine = sys.modules.pop("sitecustomize", None)
    spec = _frozen_importlib_external.PathFinder.find_spec("sitecustomize", sys.path)
    if spec is None or spec.loader is None:
        if mine is not None:
            # The import system takes the entry away itself, and expects to find one.
            sys.modules["sitecustomize"] = mine
        raise ImportError("No module named 'sitecustomize'", name="sitecustomize")
    module = _frozen_importlib.module_from_spec(spec)
    sys.modules["sitecustomize"] = module
    spec.loader.exec_module(module)


_enter()
_give_way()
