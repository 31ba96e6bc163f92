"""The page: positions and games as data, a viewer of records, HTML files that play offline, and a server.

Names are imported when they are first used.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from .export import export_html, html_page
    from .routes.server import create_app
else:
    from cellgames.utils.lazy_names import lazy_names

    __getattr__, __dir__ = lazy_names(
        __name__,
        {
            "export": ("export_html", "html_page"),
            "routes.server": ("create_app",),
        },
    )

__all__ = [
    "create_app",
    "export_html",
    "html_page",
]
