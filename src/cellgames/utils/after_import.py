"""Functions that run once another package has been imported, in any order of imports (the idea of PEP 369)."""

from __future__ import annotations

import sys
from collections.abc import Sequence
from importlib.machinery import ModuleSpec
from pkgutil import resolve_name
from types import ModuleType
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from importlib.abc import Loader

__all__ = ["after_import"]


def after_import(module: str, target: str) -> None:
    """Call a function after a module has been imported: at once if it has been, else when somebody imports it.

    Args:
        module: the name of a package or module, which is not imported for this.
        target: import path of the function, `package.module:name`; imported when it is called, without arguments.
    """
    if module in sys.modules:
        resolve_name(target)()
    else:
        sys.meta_path.insert(0, _Watcher(module, target))


class _Watcher:
    """A finder of one module, which asks all other finders and puts a loader around the one that they find."""

    def __init__(self, module: str, target: str) -> None:
        self.module, self.target = module, target

    def find_spec(
        self, fullname: str, path: Sequence[str] | None, target: ModuleType | None = None
    ) -> ModuleSpec | None:
        """Return what the other finders find, with a loader around its loader; None for all other modules."""
        if fullname != self.module:
            return None
        for finder in sys.meta_path:
            if finder is not self and (spec := finder.find_spec(fullname, path, target)) is not None:
                if spec.loader is not None:
                    spec.loader = _Loader(spec.loader, self)  # type: ignore[assignment]  # its base is slow to import
                return spec
        return None


class _Loader:
    """A loader that does what another one does, and then what the watcher waits for."""

    def __init__(self, loader: Loader, watcher: _Watcher) -> None:
        self._loader, self._watcher = loader, watcher

    def __getattr__(self, name: str) -> Any:
        return getattr(self._loader, name)

    def create_module(self, spec: ModuleSpec) -> ModuleType | None:
        """Return what the other loader makes."""
        return self._loader.create_module(spec)

    def exec_module(self, module: ModuleType) -> None:
        """Run the module with the other loader as its own, and then, once, the watcher's function."""
        module.__loader__ = self._loader
        if module.__spec__ is not None:
            module.__spec__.loader = self._loader
        self._loader.exec_module(module)
        if self._watcher in sys.meta_path:
            sys.meta_path.remove(self._watcher)
            resolve_name(self._watcher.target)()
