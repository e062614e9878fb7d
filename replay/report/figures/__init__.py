"""Drawings of a run, each a figure that is its own SVG."""
