"""Games of other libraries: PettingZoo, OpenSpiel, and environments of one's own."""
