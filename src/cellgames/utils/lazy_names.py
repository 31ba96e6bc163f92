"""Names of a package that are imported from its modules when they are first used (PEP 562)."""

from __future__ import annotations

import importlib
import sys
from collections.abc import Callable, Mapping
from importlib.util import find_spec
from typing import Any

__all__ = ["lazy_names"]


def lazy_names(
    package: str, homes: Mapping[str, tuple[str, ...]]
) -> tuple[Callable[[str], Any], Callable[[], list[str]]]:
    """Return `__getattr__` and `__dir__` for a package, so that importing it imports none of its modules.

    The modules of the package are its attributes, too, without an import of their own. A public name must not be that
    of a module: once imported, the module would stand in its place.

    Args:
        package: the name of the package, `__name__`.
        homes: the names that come from each module, which is named relative to the package.
    """
    home = {name: f"{package}.{module}" for module, names in homes.items() for name in names}

    def find(name: str) -> Any:
        if name in home:
            return getattr(importlib.import_module(home[name]), name)
        module = f"{package}.{name}"
        if name.startswith("_") or find_spec(module) is None:
            raise AttributeError(f"module {package!r} has no attribute {name!r}")
        return importlib.import_module(module)

    def names() -> list[str]:
        return sorted({*vars(sys.modules[package]), *home})

    return find, names
