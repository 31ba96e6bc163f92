"""The games and their rules, and the adapters that show them to other libraries."""
