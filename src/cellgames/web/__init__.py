"""The page: positions and games as data, a viewer of records, HTML files that play offline, and a server.

Names are imported when they are first used.
"""

from typing import TYPE_CHECKING

from cellgames.utils.lazy_names import lazy_names

if TYPE_CHECKING:
    from .frames import export_html as export_html, html_page as html_page
    from .routes.server import create_app as create_app
else:
    __getattr__, __dir__, __all__ = lazy_names(__name__)
