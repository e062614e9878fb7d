"""A simulated sleeper: stages made epoch by epoch, that answer cues as no recording can.

Everything it makes is labelled a simulation. `docs/explanation/simulated-sleeper.md` says what it
was fitted to, where it misses, and what is assumed.
"""
