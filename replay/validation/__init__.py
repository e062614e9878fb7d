"""Validation: whether the replay environment does on a night what it promises, check by check."""
