"""The title of champion, which a team keeps until the next season has a champion of its own."""
