"""What strategies emerge: openings, places, courses, Life objects and behaviour, out of records of games."""
