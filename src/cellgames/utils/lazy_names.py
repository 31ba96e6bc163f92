"""Names of a package that are imported from its modules when they are first used (PEP 562)."""

from __future__ import annotations

import importlib
import sys
from collections.abc import Callable, Mapping
from importlib.util import find_spec
from pkgutil import iter_modules
from typing import Any

__all__ = ["lazy_names"]


def lazy_names(
    package: str, exports: Mapping[str, tuple[str, ...]]
) -> tuple[Callable[[str], Any], Callable[[], list[str]]]:
    """Return `__getattr__` and `__dir__` for a package, so that importing it imports none of its modules.

    The modules of the package are its attributes, too, and are imported when they are first used. A public name must
    not be that of a module: once imported, the module would replace it.

    Args:
        package: the name of the package, `__name__`.
        exports: the names that come from each module; the module is named relative to the package.
    """
    module_of = {name: f"{package}.{module}" for module, names in exports.items() for name in names}

    def find(name: str) -> Any:
        if name in module_of:
            return getattr(importlib.import_module(module_of[name]), name)
        module = f"{package}.{name}"
        if name.startswith("_") or find_spec(module) is None:
            raise AttributeError(f"module {package!r} has no attribute {name!r}")
        return importlib.import_module(module)

    def names() -> list[str]:
        loaded = sys.modules[package]
        modules = {found.name for found in iter_modules(loaded.__path__) if not found.name.startswith("_")}
        return sorted({*vars(loaded), *module_of, *modules})

    return find, names
