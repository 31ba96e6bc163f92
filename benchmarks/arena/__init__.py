"""Speed of round robins, the census and the page."""
