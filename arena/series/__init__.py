"""Series of Grid Adaptation matches: garnets carry over, and the Elimination Candidate of each match leaves."""
