"""The night: one loop from samples to cues, the same live and in replay."""
