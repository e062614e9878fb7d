"""Recorded nights, the worlds they are replayed in, and what comes out of it."""
