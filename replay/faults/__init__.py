"""Faults that act in the world of a composed task: on labels, in the room, by the person."""
