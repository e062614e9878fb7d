"""The pages of a run, each one file."""
