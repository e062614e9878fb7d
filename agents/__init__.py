"""Policies: what to do every 30 seconds. Imports `devices.types` only."""
