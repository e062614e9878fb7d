"""Experiments: many attempts, made once, kept in one folder."""
