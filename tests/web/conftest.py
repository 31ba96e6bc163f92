"""What the tests of the page share."""

from web_fixtures import chromium as chromium
from web_fixtures import results as results
from web_fixtures import site as site
