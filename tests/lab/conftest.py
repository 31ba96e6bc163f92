"""What the tests of the page share, for the parts of it that are the lab's."""

from web_fixtures import chromium as chromium
from web_fixtures import results as results
from web_fixtures import site as site
