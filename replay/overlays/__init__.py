"""Overlays: what a device would show of a night whose true stages are known.

`device` shows the recording's own stages; `confusion` and `consumer` are models of devices. The
truth stays hidden. `docs/explanation/device-and-truth.md` says what they stand for.
"""

from replay.overlays.confusion import Overlay
from replay.overlays.gaps import CueGap, cue_gaps, largest_gaps
from replay.overlays.laying import overlaid
from replay.overlays.named import overlay_named, overlay_names

__all__ = [
    "CueGap",
    "Overlay",
    "cue_gaps",
    "largest_gaps",
    "overlaid",
    "overlay_named",
    "overlay_names",
]
