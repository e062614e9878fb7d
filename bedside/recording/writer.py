"""Writing a night: a whole recording at once, or sample by sample while it happens."""

from __future__ import annotations

import os
from collections.abc import Callable
from functools import partial
from pathlib import Path
from queue import Full, Queue
from threading import Event, Thread
from typing import Final, Self

from bedside.recording.chunks import CHUNK_BYTES, OpenChunk, base_ns
from bedside.recording.errors import WriteFailed, write_failure
from bedside.recording.head import NightHead
from bedside.recording.info import Recording, RecordingInfo, info_as_dict, info_from_dict
from bedside.recording.mcap_file import McapFile, sync_folder
from bedside.recording.recovery import copy_for_more
from bedside.recording.replacement import Replacement
from devices.types import Sample, Truth

LIVE_CHUNK_S: Final = 5.0
"""Source: design of the night file; a power cut costs at most this much of the night."""
_WAITING_CHUNKS: Final = 64
"""Assumed: storage that stands still for five minutes is broken."""


def write_night(
    path: str | Path,
    recording: Recording,
    *,
    chunk_s: float = LIVE_CHUNK_S,
    progress: Callable[[float], None] | None = None,
) -> None:
    """Write a whole night under a name of its own, then rename: never half a file at `path`.

    progress: told the t of each chunk's end. Raises BadSample or WriteFailed, and leaves nothing.
    """
    path = Path(path)
    try:
        info_from_dict(info_as_dict(recording.info))
    except (KeyError, TypeError, ValueError) as error:
        raise WriteFailed(f"{path}: what is said of this night cannot be: {error}") from error
    with Replacement(path) as file:
        truth = recording.truth()
        file.begin(NightHead(recording.info, base_ns(recording.info), len(truth)))
        gathered = OpenChunk(recording.info)
        _write_truth(file, gathered, truth, recording.info.truth_origin)
        window = None
        for sample in recording.samples():
            now = sample.t // chunk_s
            if now != window or gathered.size > CHUNK_BYTES:
                window = now
                _append(file, gathered)
                if progress is not None:
                    progress(sample.t)
            gathered.add(sample)
        _append(file, gathered)
        file.finish()


def _write_truth(
    file: McapFile, gathered: OpenChunk, truth: tuple[Truth, ...], origin: str | None
) -> None:
    for label in truth:
        gathered.add_truth(label, origin or "unknown")
    _append(file, gathered)


def _append(file: McapFile, gathered: OpenChunk) -> None:
    data = gathered.take()
    if data:
        file.append(data)


class NightWriter:
    """The live night file: a chunk each 5 s of t, written and synced by a thread of its own.

    `add` and `flush` never wait for the storage. When it refuses a chunk, that chunk is dropped,
    the next `add` or `flush` raises WriteFailed once, and writing goes on when there is room
    again: everything complete stays readable. Without `sync` chunks are written by the caller's
    own thread and never synced.

    safe_t: everything up to here is on the storage. dropped_chunks: how many were refused.
    """

    def __init__(self, path: str | Path, info: RecordingInfo, *, sync: bool = True) -> None:
        """Begin a new file; raises WriteFailed where there is one already."""
        path = Path(path)
        self._begin(path, _new_file(path, info, sync), OpenChunk(info), sync)

    @classmethod
    def resume(cls, path: str | Path, *, sync: bool = True) -> Self:
        """Go on with a night that a crash cut off: what is whole stays, what is torn goes.

        `t` of what is added must not lie before the last sample that was kept.
        """
        path = Path(path)
        with Replacement(path, keep_open=True) as file:
            gathered = copy_for_more(path, file)
        self = cls.__new__(cls)
        self._begin(path, file, gathered, sync)
        return self

    def _begin(self, path: Path, file: McapFile, gathered: OpenChunk, sync: bool) -> None:
        self.path = path
        self.safe_t: float | None = None
        self.dropped_chunks = 0
        self._dropped_seen = 0
        self._file = file
        self._gathered = gathered
        self._sync = sync
        self._window: float | None = None
        self._t = 0.0
        self._untold: WriteFailed | None = None
        self._failing: WriteFailed | None = None
        self._closed = False
        self._jobs: Queue[Callable[[], object] | None] = Queue(_WAITING_CHUNKS)
        self._thread = Thread(target=self._work, name="night file", daemon=True)
        if sync:
            self._thread.start()

    def add(self, sample: Sample) -> None:
        """Take a sample in. BadSample: it is not kept. WriteFailed: it is kept, an earlier chunk
        was lost."""
        if self._closed:
            raise WriteFailed(f"{self.path}: the night is closed; nothing can be added")
        window = sample.t // LIVE_CHUNK_S
        if window != self._window or self._gathered.size > CHUNK_BYTES:
            self._close_chunk()
            self._window = window
        self._gathered.add(sample)
        self._t = sample.t
        if self._untold is not None:
            self._tell()

    def flush(self, t: float | None = None) -> None:
        """Close the chunk if `t` has left its 5 seconds; without `t` close it in any case."""
        if t is None or t // LIVE_CHUNK_S != self._window:
            self._close_chunk()
        if self._untold is not None:
            self._tell()

    def settle(self, timeout_s: float = 30.0) -> bool:
        """Wait until every closed chunk was written and synced; False when that takes too long."""
        if not self._sync:
            return True
        settled = Event()
        try:
            self._jobs.put(settled.set, timeout=timeout_s)
        except Full:
            return False
        return settled.wait(timeout_s)

    def close(self, timeout_s: float = 30.0) -> None:
        """Close the night with its summary; raises WriteFailed where that cannot be written."""
        if self._closed:
            return
        self._close_chunk()
        self._closed = True
        if self._sync:
            self._stop_thread(timeout_s)
        else:
            self._finish()
        self._file.close()
        if self._failing is not None:
            raise self._failing

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def _close_chunk(self) -> None:
        if self.dropped_chunks != self._dropped_seen:
            self._dropped_seen = self.dropped_chunks
            self._gathered.define_again()
        data = self._gathered.take()
        if not data:
            return
        job = partial(self._write, data, self._t)
        if not self._sync:
            job()
            return
        try:
            self._jobs.put_nowait(job)
        except Full:
            self.dropped_chunks += 1
            self._fail(WriteFailed(f"{self.path}: the storage does not answer; check the disk"))

    def _tell(self) -> None:
        untold, self._untold = self._untold, None
        if untold is not None:
            raise untold

    def _stop_thread(self, timeout_s: float) -> None:
        try:
            for job in (self._finish, None):
                self._jobs.put(job, timeout=timeout_s)
        except Full:
            pass
        else:
            self._thread.join(timeout_s)
        if self._thread.is_alive():
            raise WriteFailed(
                f"{self.path}: the storage does not answer; "
                f"`paprika recover {self.path}` gives what reached it"
            )

    def _work(self) -> None:
        while (job := self._jobs.get()) is not None:
            job()

    def _write(self, data: bytes, t: float) -> None:
        try:
            self._file.append(data)
        except WriteFailed as failure:
            self.dropped_chunks += 1
            self._fail(failure)
            return
        self._sync_up_to(t)

    def _finish(self) -> None:
        try:
            self._file.finish()
        except WriteFailed as failure:
            self._fail(failure)
            return
        self._sync_up_to(self._t)

    def _sync_up_to(self, t: float) -> None:
        try:
            if self._sync:
                self._file.sync()
        except WriteFailed as failure:
            self._fail(failure)
        else:
            self._failing = None
            self.safe_t = t

    def _fail(self, failure: WriteFailed) -> None:
        if self._failing is None:
            self._untold = failure
        self._failing = failure


def _new_file(path: Path, info: RecordingInfo, sync: bool) -> McapFile:
    try:
        descriptor = os.open(path, os.O_RDWR | os.O_CREAT | os.O_EXCL | os.O_CLOEXEC, 0o600)
    except OSError as error:
        raise write_failure(path, error) from error
    file = McapFile(descriptor, path)
    try:
        file.begin(NightHead(info, base_ns(info), 0))
        if sync:
            file.sync()
            sync_folder(path.parent)
    except BaseException:
        file.close()
        path.unlink()
        raise
    return file
