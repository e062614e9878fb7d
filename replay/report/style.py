"""The style of the pages of a run: that of a replay's page, with charts, menus and lists."""

from __future__ import annotations

from typing import Final

from replay.page_style import PAGE_STYLE

SERIES_LIGHT: Final = ("#0b63a5", "#a85400", "#0d7358", "#a3246f", "#5a4bc0", "#5b6470")
SERIES_DARK: Final = ("#6cb8f2", "#f2a640", "#4fd0a5", "#ef86c4", "#aea2ff", "#aab2bf")
"""Colours of agents; each also has a mark and a dash of its own."""


def _named(colours: tuple[str, ...]) -> str:
    return ";".join(f"--s{number}:{colour}" for number, colour in enumerate(colours))


def _series() -> str:
    rules = (
        f".night .s{k}{{stroke:var(--s{k});fill:none;stroke-width:2}}"
        f".night .m{k}{{fill:var(--s{k});stroke:var(--paper);stroke-width:.8}}"
        for k in range(len(SERIES_LIGHT))
    )
    return "\n".join(rules)


REPORT_STYLE: Final = f"""{PAGE_STYLE}
:root{{{_named(SERIES_LIGHT)}}}
@media (prefers-color-scheme:dark){{:root{{{_named(SERIES_DARK)}}}}}
{_series()}
.night .amount{{fill:var(--s0)}}.night .none{{fill:var(--gap)}}
.night .bad{{fill:var(--alarm)}}.night .span{{stroke:var(--ink);stroke-width:1.6;fill:none}}
.night .ground{{fill:var(--card)}}.night .axis{{stroke:var(--soft);stroke-width:1;fill:none}}
.night .start{{stroke:var(--ink);stroke-width:1;stroke-dasharray:3 3;fill:none;opacity:.7}}
.night .tick{{stroke:var(--ink);stroke-width:1.1;fill:none}}
.night .wake{{stroke:var(--alarm);stroke-width:1.8;fill:none}}
.night .wakehead{{fill:var(--alarm)}}
.night .node{{fill:var(--card);stroke:var(--soft);stroke-width:1}}
.night .assumed{{fill:var(--gap);fill-opacity:.28;stroke:var(--soft);stroke-dasharray:5 3}}
.night .hidden{{fill:var(--card);stroke:var(--soft);stroke-width:1;stroke-dasharray:2 3}}
.night .arrow{{stroke:var(--soft);stroke-width:1.4;fill:none}}.night .head{{fill:var(--soft)}}
.night .code{{font-family:ui-monospace,"DejaVu Sans Mono",monospace}}
.night .strong,.night .title{{font-weight:600;fill:var(--ink)}}
.night .title{{paint-order:stroke;stroke:var(--paper);stroke-width:5px}}
nav{{display:flex;flex-wrap:wrap;gap:.2rem 1.1rem;padding:.4rem 0;
border-bottom:1px solid var(--grid)}}
nav a{{padding:.35rem 0}}
nav a[aria-current]{{color:var(--ink);font-weight:600;text-decoration:none}}
.skip{{position:absolute;left:-99rem}}.skip:focus{{left:1rem;top:.3rem;background:var(--paper)}}
:focus-visible{{outline:3px solid var(--link);outline-offset:2px}}
.table{{max-width:none;width:auto;min-width:min(100%,30rem)}}
.scroll{{margin:1rem 0;
background:linear-gradient(to left,var(--paper) 40%,transparent) right/3rem 110% no-repeat local,
linear-gradient(to left,color-mix(in srgb,var(--soft) 45%,transparent),transparent)
right/.7rem 100% no-repeat scroll}}
caption{{max-width:none}}
caption span{{display:block;position:sticky;left:0;width:fit-content;
max-width:min(58rem,calc(100vw - 2rem))}}
.table th:first-child,.table td:first-child{{position:sticky;left:0;background:var(--paper)}}
.table thead th.n{{text-align:right;white-space:normal}}
.wide main{{max-width:90rem}}.wide table a{{white-space:nowrap}}
.table th.n button{{text-align:right}}
.table td,.table th{{padding-right:1rem}}.table thead th{{vertical-align:bottom}}
.table small{{display:block;color:var(--soft);white-space:nowrap}}
.table th button{{font:inherit;color:inherit;background:none;border:0;padding:.3rem 0;
cursor:pointer;text-decoration:underline dotted;text-align:inherit}}
.menu{{columns:12rem;list-style:none;padding:0;max-width:none}}
.menu a{{display:inline-block;padding:.2rem 0}}
.hidden{{border-bottom:1px dotted currentColor}}
.controls{{display:grid;grid-template-columns:repeat(auto-fill,minmax(7.7rem,1fr));gap:.6rem;
margin:.8rem 0;align-items:end}}
.controls label{{display:block;font-size:.85rem;color:var(--soft)}}
.controls .long{{grid-column:span 2}}
select,.controls button,.pager button{{font:inherit;color:var(--ink);background:var(--card);
border:1px solid var(--soft);border-radius:.3rem;padding:.4rem .5rem;min-height:2.6rem;width:100%}}
.pager{{display:flex;gap:.8rem;align-items:center;margin:.6rem 0}}.pager button{{width:auto}}
button:disabled{{opacity:.45}}
.v-pass::before{{content:"✓ "}}.v-fail::before{{content:"✗ "}}.v-unresolved::before{{content:"? "}}
.v-checker_error::before{{content:"! "}}.v-fail,.v-checker_error{{color:var(--alarm)}}
.wait td{{color:var(--soft)}}.parts td{{border-top:3px solid var(--alarm)}}
.decisions{{max-width:none;table-layout:auto}}
.decisions td,.decisions bdi{{overflow-wrap:anywhere}}
.decisions td:first-child{{white-space:nowrap}}
.tag{{display:inline-block;border:1px solid currentColor;border-radius:.25rem;padding:0 .35rem;
font-size:.85em;margin-right:.25rem;white-space:nowrap}}.tag.alarm{{font-weight:600}}
.sides{{display:grid;grid-template-columns:1fr;gap:.4rem 2rem}}
.strip{{width:100%;height:auto;display:block}}
[hidden]{{display:none!important}}
@media (max-width:43rem){{.controls{{grid-template-columns:1fr 1fr}}
.table td,.table th{{padding-right:.4rem}}
.table th:last-child,.table td:last-child{{padding-right:0}}
.table small{{white-space:normal;font-size:.7rem}}.table,.table tbody th{{font-size:.8rem}}
.table thead th{{font-size:.75rem}}
.decisions td{{font-size:.85rem;padding-right:.4rem}}}}
"""
