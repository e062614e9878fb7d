"""Overlays: what a device would show of a night whose true stages are known.

`device` shows the recording's own stages; `confusion` and `consumer` are models of devices. The
truth stays hidden. `docs/explanation/device-and-truth.md` says what they stand for.
"""

from typing import Final

from replay.overlays.confusion import Overlay
from replay.overlays.laying import overlaid
from replay.overlays.named import overlay_named, overlay_names

STANDS_FOR: Final = (
    "The device here is an automatic stager on lab leads that reads the night as a whole, offline. "
    "A headband that stages while it records sees less. The confusion overlay errs as that stager "
    "does; the consumer overlay is a pessimistic end. A result stands when it stands under both."
)
"""To be printed wherever a shown stage is compared with the truth."""

__all__ = ["STANDS_FOR", "Overlay", "overlaid", "overlay_named", "overlay_names"]
