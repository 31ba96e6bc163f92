"""The parts that games of connected stones share: joining groups, random full boards, positions as rows of text."""
