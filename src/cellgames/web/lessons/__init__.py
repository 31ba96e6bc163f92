"""Lessons: what the page teaches of each game, stated as data, and guided games."""
