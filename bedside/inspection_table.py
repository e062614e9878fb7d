"""What a night file holds, for a person at a terminal."""

from __future__ import annotations

from bedside.recording import Inspection, StreamReport

_MOST_GAPS = 5


def print_inspection(found: Inspection) -> None:
    """A table of streams; damage and gaps below it."""
    from rich.console import Console
    from rich.table import Table
    from rich.text import Text

    console = Console(markup=False, highlight=False, soft_wrap=True)
    info = found.info
    state = "closed" if found.closed else "not closed: cut off, or still being written"
    console.print(f"{found.path.name} · {info.night_id} · {info.kind}", style="bold")
    if info.synthetic:
        console.print("SYNTHETIC: made by a program, nobody's sleep", style="bold")
    console.print(
        f"{found.size_bytes / 1e6:.2f} MB, {found.chunks} chunks, {state}; "
        f"{_span(found)}; truth: {_truth(found)}",
        highlight=False,
    )
    table = Table(box=None, pad_edge=False)
    for column in ("stream", "source"):
        table.add_column(column, overflow="fold")
    for column in ("samples", "from", "to", "complete", "gaps", "longest"):
        table.add_column(column, justify="right", no_wrap=True)
    for report in found.streams:
        table.add_row(*map(Text, _row(report)))
    console.print(table)
    for damage in found.damages:
        console.print(f"damage at byte {damage.byte}: {damage.what}", style="red")
    for report in found.streams:
        _print_gaps(report)
    for note in info.notes:
        console.print(f"note: {note}")
    if found.damages or not found.closed:
        console.print(f"paprika recover {found.path}  saves what is complete")


def _print_gaps(report: StreamReport) -> None:
    if not report.gaps:
        return
    named = ", ".join(f"{_hms(g.start_t)}-{_hms(g.end_t)}" for g in report.gaps[:_MOST_GAPS])
    more = f" and {report.gap_count - _MOST_GAPS} more" if report.gap_count > _MOST_GAPS else ""
    print(f"gaps of {report.declared.stream} ({report.declared.source}): {named}{more}")


def _row(report: StreamReport) -> tuple[str, ...]:
    complete = "" if report.completeness is None else f"{100 * report.completeness:.1f} %"
    return (
        report.declared.stream.value,
        report.declared.source,
        f"{report.count:,}",
        _hms(report.first_t),
        _hms(report.last_t),
        complete,
        str(report.gap_count),
        f"{report.longest_gap_s:.0f} s" if report.gap_count else "",
    )


def _span(found: Inspection) -> str:
    epochs = "" if found.info.epochs is None else f", {found.info.epochs} epochs"
    return f"{_hms(found.first_t)} to {_hms(found.last_t)}{epochs}"


def _truth(found: Inspection) -> str:
    return f"{found.truths} labels by {found.info.truth_origin}" if found.truths else "none"


def _hms(t: float | None) -> str:
    if t is None:
        return "–"
    seconds = int(t)
    return f"{seconds // 3600}:{seconds // 60 % 60:02d}:{seconds % 60:02d}"
