"""Scores: verdicts on attempts, and what may be concluded from them."""
