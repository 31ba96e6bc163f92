"""Names of a package that are imported from its modules when they are first used (PEP 562)."""

from __future__ import annotations

import ast
import importlib
import sys
from collections.abc import Callable
from importlib.util import find_spec
from pkgutil import get_data, iter_modules
from typing import Any


def exported(source: bytes) -> dict[str, str]:
    """Return the module of each name that the source of a package exports by `from .module import Name as Name`."""
    blocks = [node.body if isinstance(node, ast.If) else [node] for node in ast.parse(source).body]
    imports = [node for block in blocks for node in block if isinstance(node, ast.ImportFrom) and node.module]
    modules = [(f"{'.' * node.level}{node.module}", alias) for node in imports for alias in node.names]
    return {alias.name: module for module, alias in modules if alias.name == alias.asname}


def lazy_names(package: str) -> tuple[Callable[[str], Any], Callable[[], list[str]], list[str]]:
    """Return `__getattr__`, `__dir__` and `__all__` for a package, so that importing it imports none of its modules.

    The package states its names once, for type checkers and for this function:

        if TYPE_CHECKING:
            from .game import Torus as Torus
        else:
            __getattr__, __dir__, __all__ = lazy_names(__name__)

    The modules of the package are its attributes, too, and are imported when they are first used. A public name must
    not be that of a module: once imported, the module would replace it.
    """
    loaded = sys.modules[package]
    module_of = exported(get_data(package, "__init__.py") or b"")

    def find(name: str) -> Any:
        if name in module_of:
            return getattr(importlib.import_module(module_of[name], package), name)
        module = f"{package}.{name}"
        if name.startswith("_") or find_spec(module) is None:
            raise AttributeError(f"module {package!r} has no attribute {name!r}")
        return importlib.import_module(module)

    def names() -> list[str]:
        modules = {found.name for found in iter_modules(loaded.__path__) if not found.name.startswith("_")}
        special = {name for name in vars(loaded) if name.startswith("__")}
        return sorted({*special, *loaded.__all__, *module_of, *modules})

    return find, names, sorted(module_of)
