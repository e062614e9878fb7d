"""The style of a replay's page: dark and light, from a phone of 360 px to a desk."""

from __future__ import annotations

from typing import Final

from replay.night_colours import DARK_COLOURS, LIGHT_COLOURS, STYLE, colours_css

PAGE_STYLE: Final = f"""\
:root{{color-scheme:light dark;{colours_css(LIGHT_COLOURS)};--card:#f5f6f8;--link:#0b5cad}}
@media (prefers-color-scheme:dark){{
:root{{{colours_css(DARK_COLOURS)};--card:#1d2027;--link:#86bdf7}}}}
*{{box-sizing:border-box}}
body{{margin:0;background:var(--paper);color:var(--ink);
font:16px/1.5 system-ui,-apple-system,"Segoe UI",sans-serif;overflow-wrap:break-word}}
main{{max-width:62rem;margin:0 auto;padding:1rem 1rem 3rem}}
h1{{font-size:1.6rem;line-height:1.2;margin:.5rem 0}}
h2{{font-size:1.15rem;margin:2rem 0 .5rem}}
p{{margin:.4rem 0;max-width:44rem}}
a{{color:var(--link)}}
.soft,caption,dt,th,figcaption{{color:var(--soft)}}
.synthetic{{border:2px solid var(--alarm);border-radius:.4rem;padding:.4rem .7rem;
margin:.6rem 0;max-width:none}}
.synthetic strong,.alarm{{color:var(--alarm)}}
figure{{margin:.5rem 0}}
figure svg{{display:block;width:100%;height:auto}}
.phone{{display:none}}
.facts{{display:grid;grid-template-columns:repeat(auto-fill,minmax(9rem,1fr));gap:.5rem;margin:0}}
.facts div{{background:var(--card);border-radius:.4rem;padding:.5rem .7rem}}
.facts dt{{font-size:.85rem}}
.facts dd{{margin:0;font-weight:600}}
.facts small{{display:block;font-weight:400;color:var(--soft)}}
.about{{display:grid;grid-template-columns:max-content 1fr;gap:.25rem 1rem;margin:.4rem 0}}
.about dd{{margin:0}}
.pair{{display:grid;grid-template-columns:
repeat(auto-fit,minmax(min(100%,27rem),1fr));gap:0 2.5rem}}
.scroll{{overflow-x:auto}}
table{{border-collapse:collapse;width:100%;max-width:44rem;font-variant-numeric:tabular-nums}}
.word{{white-space:nowrap}}.cues td:last-child,dd{{overflow-wrap:anywhere}}
.cues table{{max-width:none}}
caption{{text-align:left;font-size:.9rem;padding:.2rem 0}}
th,td{{text-align:left;vertical-align:top;padding:.3rem .7rem .3rem 0;
border-bottom:1px solid var(--grid)}}
th{{font-weight:600;font-size:.9rem}}
tbody th{{color:var(--ink);font-weight:400;font-size:1rem}}
.n{{text-align:right;white-space:nowrap}}
.bar{{position:relative;height:1rem;min-width:5rem;margin-top:.25rem;background:var(--card)}}
.bar b,.bar i{{position:absolute;top:0;bottom:0}}
.bar i{{border:2px solid var(--ink);outline:1px solid var(--paper);top:-.2rem;bottom:-.2rem;
box-shadow:inset 0 0 0 1px var(--paper)}}
.b-awake{{background:var(--awake)}}.b-rem{{background:var(--rem)}}
.b-light{{background:var(--light)}}.b-deep{{background:var(--deep)}}
summary{{cursor:pointer;padding:.4rem 0;font-weight:600}}
details[open] summary{{margin-bottom:.3rem}}
code{{font-family:ui-monospace,"DejaVu Sans Mono",monospace;font-size:.9em}}
ol,ul{{padding-left:1.3rem;max-width:44rem;margin:.4rem 0}}
li{{margin:.3rem 0}}
@media (max-width:43rem){{
.desk{{display:none}}.phone{{display:block}}
.facts{{grid-template-columns:1fr 1fr}}
th,td{{padding-right:.45rem}}table,tbody th{{font-size:.92rem}}.cues td{{font-size:.85rem}}
.wide-only{{display:none}}}}
@media print{{.scroll{{overflow:visible}}}}
{STYLE}"""
