const NOBODY = "";
const words = given.words;
const at = new Map(given.attempts.map((one) => [`${one.t} ${one.a} ${one.x}`, one]));
const asked = new URLSearchParams(location.hash.slice(1));
const place = (list, word, otherwise) => (list.includes(word) ? list.indexOf(word) : otherwise);
const state = {
  task: place(given.tasks, asked.get("task"), given.first),
  a: place(given.agents, asked.get("a"), given.agents.length - 1),
  b: asked.get("b") === null ? NOBODY : place(given.agents, asked.get("b"), NOBODY),
  scale: given.scales.includes(+asked.get("scale")) ? +asked.get("scale") : given.base,
};

// A cue as tasks.py packs it.
function cueOf(packed) {
  const [step, t, what, volume, played, line, saidLine, shown, real, delivered, woke, rules, limits, refused] = packed;
  return { step, t, what, volume, played, line, said: saidLine, shown, real, delivered, woke, rules, limits, refused };
}

function opened(one) {
  if (!one || one.shown === undefined) return null;
  const reasons = [];
  for (let k = 0; k < one.why.length; k += 2) for (let n = 0; n < one.why[k + 1]; n++) reasons.push(one.why[k]);
  return {
    one, reasons,
    cues: new Map((one.cues || []).map((packed) => [packed[0], cueOf(packed)])),
    bad: new Map((one.bad || []).map(([step, status, error]) => [step, [status, error]])),
    late: new Map(one.late || []),
    dropped: new Set(one.drop || []),
    real: one.true || one.shown,
    steps: one.shown.length,
  };
}

const clock = (seconds) => {
  const s = Math.floor(((seconds + 43200) % 86400 + 86400) % 86400);
  return [s / 3600, (s / 60) % 60, s % 60].map((part) => String(Math.floor(part)).padStart(2, "0")).join(":");
};

// The same decision with the same view: the reason and what is hidden do not count.
function done(side, step) {
  if (step >= side.steps) return "ended";
  const cue = side.cues.get(step);
  const told = cue ? [cue.t, cue.what, cue.volume, cue.played, cue.line, cue.said, cue.shown, cue.delivered] : "";
  return JSON.stringify([side.one.shown[step], side.one.acts[step], told]);
}

function partingOf(sides) {
  const [a, b] = sides;
  for (let step = 0; step < Math.max(a.steps, b.steps); step++) if (done(a, step) !== done(b, step)) return step;
  return null;
}

// Waits that say the same are one row.
function keyOf(side, step) {
  if (step >= side.steps) return "ended";
  const one = side.one;
  if (one.acts[step] !== "." || side.bad.has(step)) return `alone ${step}`;
  return [one.shown[step], side.real[step], side.reasons[step], side.dropped.has(step)].join(" ");
}

function spans(sides, parts) {
  const found = [];
  const steps = Math.max(...sides.map((side) => side.steps));
  let last = null;
  for (let step = 0; step < steps; step++) {
    const key = sides.map((side) => keyOf(side, step)).join("|");
    if (key === last && step !== parts) found[found.length - 1][1]++;
    else found.push([step, 1]);
    last = key;
  }
  return found;
}

function decision(side, step, length) {
  const act = side.one.acts[step];
  const cue = side.cues.get(step);
  if (act === "x") return "stop";
  if (!cue) return length === 1 ? "wait" : `wait, ${length} steps`;
  const volume = cue.volume ? `, ${words[cue.volume]}` : "";
  const line = cue.line ? `: “${words[cue.line]}”` : "";
  return words[cue.what] + volume + line;
}

function notes(side, step) {
  const found = [];
  const cue = side.cues.get(step);
  const bad = side.bad.get(step);
  if (bad) found.push(words[bad[1]] ? `${words[bad[0]]}: ${words[bad[1]]}` : words[bad[0]]);
  if (side.late.has(step)) found.push(`took ${side.late.get(step).toFixed(1)} s`);
  if (cue && cue.played) found.push(`played ${words[cue.played]}`);
  if (cue && cue.said) found.push(`said instead: “${words[cue.said]}”`);
  if (cue && cue.refused.length) found.push(`refused by ${cue.refused.map((name) => words[name]).join(", ")}`);
  else if (cue && cue.limits.length) found.push(`limits: ${cue.limits.map((name) => words[name]).join(", ")}`);
  return found.length ? el("small", {}, said(found.join(" · "))) : null;
}

function tags(side, step) {
  const cue = side.cues.get(step);
  if (!cue) return [];
  return [
    cue.woke ? [" ", el("strong", { class: "tag alarm" }, "woke the sleeper")] : [],
    cue.rules.map((rule) => [" ", el("span", { class: "tag" }, said(words[rule]))]),
  ];
}

function stage(side, step) {
  const shown = side.one.shown[step], real = side.real[step];
  const hidden = side.dropped.has(step) ? "dropout" : real === "i" ? "inserted wake" : real !== shown ? stageOf(real) : "";
  return [stageOf(shown), hidden ? [" ", el("span", { class: "hidden" }, `(hidden: ${hidden})`)] : []];
}

function cell(side, step, length) {
  if (step >= side.steps) return el("td", {}, "ended");
  const what = decision(side, step, length);
  return el("td", {}, stage(side, step), " · ", said(what), tags(side, step),
    el("div", {}, said(words[side.reasons[step]])), notes(side, step));
}

function table(sides) {
  const parts = sides.length > 1 ? partingOf(sides) : null;
  const longest = sides.reduce((a, b) => (b.steps > a.steps ? b : a));
  const rows = [];
  for (const [step, length] of spans(sides, parts)) {
    if (step === parts) {
      rows.push(el("tr", { class: "parts" }, el("td", { colspan: sides.length + 1 },
        el("strong", { class: "alarm" }, "Here they part"), `, at step ${step}.`)));
    }
    const quiet = sides.every((side) => step >= side.steps || (side.one.acts[step] === "." && !side.bad.has(step)));
    rows.push(el("tr", { class: quiet ? "wait" : null },
      el("td", {}, clock(longest.one.c + 30 * (step + 1))), sides.map((side) => cell(side, step, length))));
  }
  const same = sides.length > 1 && parts === null ? " They never part." : "";
  return el("table", { class: "decisions" },
    el("caption", {}, el("span", {}, `An epoch of 30 s each; waits that say the same are one row.${same}`)),
    el("thead", {}, el("tr", {}, el("th", { scope: "col" }, "time"),
      sides.map((side) => el("th", { scope: "col" }, said(given.agents[side.one.a]))))),
    el("tbody", {}, rows));
}

const LANES = "WRLD";
const CLASSES = { W: "awake", R: "rem", L: "light", D: "deep" };
function strip(side, narrow) {
  const width = narrow ? 360 : 960, left = narrow ? 52 : 60, lane = narrow ? 20 : 22, size = narrow ? 12 : 13;
  const unit = (width - left - 6) / Math.max(1, side.steps), bottom = lane * 4 + 6;
  const parts = [];
  for (let k = 0; k < 4; k++) {
    parts.push(svg("path", { class: "grid", d: `M${left} ${6 + lane * (k + 1)}H${width - 6}` }));
    parts.push(svg("text", { class: "ink", x: left - 6, y: 6 + lane * (k + 0.5) + size * 0.35, "font-size": size, "text-anchor": "end" }, stageOf(LANES[k])));
  }
  for (let step = 0, end; step < side.steps; step = end) {
    const letter = side.one.shown[step], number = LANES.indexOf(letter);
    for (end = step + 1; side.one.shown[end] === letter; end++);
    const box = number < 0
      ? { class: "gap", y: 6, height: lane * 4 }
      : { class: CLASSES[letter], y: 6 + lane * (number + 0.2), height: lane * 0.6 };
    parts.push(svg("rect", { ...box, x: (left + step * unit).toFixed(1), width: (unit * (end - step)).toFixed(1) }));
  }
  for (const cue of side.cues.values()) {
    const x = (left + (cue.t / 30) * unit).toFixed(1);
    const style = cue.woke ? "wake" : cue.delivered ? "tick" : "start";
    parts.push(svg("path", { class: style, d: `M${x} ${bottom + 26}v-${cue.woke ? 24 : 14}` }));
    if (cue.woke) parts.push(svg("path", { class: "wakehead", d: `M${x} ${bottom + 8}l-5 -8h10z` }));
  }
  if (!side.cues.size) parts.push(svg("text", { x: left + 4, y: bottom + 22, "font-size": size }, "none"));
  parts.push(svg("text", { class: "ink", x: left - 6, y: bottom + 22, "font-size": size, "text-anchor": "end" }, "cues"));
  for (let step = 0; step <= side.steps; step += narrow ? 20 : 10) {
    const x = Math.min(Math.max(left + step * unit, left + 16), width - 20);
    parts.push(svg("text", { x: x.toFixed(1), y: bottom + 44, "font-size": size, "text-anchor": "middle" }, clock(side.one.c + 30 * step).slice(0, 5)));
  }
  const told = `${given.agents[side.one.a]}: ${plural(side.one.n, "cue")}, ${plural(side.one.w, "waking")}`;
  return svg("svg", { class: "night strip", viewBox: `0 0 ${width} ${bottom + 50}`, role: "img", "aria-label": clean(told) }, parts);
}

function summary(side) {
  const one = side.one;
  return el("section", {},
    el("h2", {}, said(given.agents[one.a])),
    el("p", {}, verdict(one.v), ` · ${words[one.s].replace("_", " ")} · ${plural(one.n, "cue")}, ${plural(one.w, "waking")} · ended by `,
      said(words[one.end].replaceAll("_", " ")), one.d ? el("span", {}, " · ", said(words[one.d])) : null),
    el("figure", {}, el("div", { class: "desk" }, strip(side, false)), el("div", { class: "phone" }, strip(side, true)),
      el("figcaption", {}, "Stages as shown; short lines: cues; long lines with a head: cues that woke; dashed: refused.")));
}

const shown = el("div", { "aria-live": "polite" });
function show() {
  const hash = new URLSearchParams({ task: given.tasks[state.task], a: given.agents[state.a], scale: state.scale });
  if (state.b !== NOBODY) hash.set("b", given.agents[state.b]);
  try { history.replaceState(null, "", `#${hash}`); } catch { /* some viewers of files allow no history */ }
  const numbers = state.b === NOBODY ? [state.a] : [state.a, state.b];
  const found = numbers.map((agent) => at.get(`${state.task} ${agent} ${state.scale}`));
  const sides = found.map(opened).filter(Boolean);
  const missing = numbers.filter((_, k) => !opened(found[k])).map((agent, k) =>
    el("p", { class: "alarm" }, said(given.agents[agent]), ": no trace of this attempt",
      found[k] && found[k].d ? [": ", said(words[found[k].d])] : []));
  const theme = found.find(Boolean);
  shown.replaceChildren(
    theme ? el("p", {}, "Theme: ", said(words[theme.th])) : "", ...missing,
    el("div", { class: "sides" }, sides.map(summary)),
    sides.length ? el("div", { class: "scroll", tabindex: "0", role: "region", "aria-label": "Decisions" }, table(sides)) : "");
}

const named = (list) => list.map((word, number) => [String(number), word]);
const pick = (key) => (value) => { state[key] = value === NOBODY ? NOBODY : +value; show(); };
const task = choice("Task", named(given.tasks), String(state.task), pick("task"));
const turn = (by) => {
  state.task = (state.task + by + given.tasks.length) % given.tasks.length;
  task.select.value = String(state.task);
  show();
};
view.append(
  el("div", { class: "controls" },
    filled(task.box, { class: "long" }, []),
    choice("Agent", named(given.agents), String(state.a), pick("a")).box,
    choice("Beside it", [[NOBODY, "nobody"], ...named(given.agents)], String(state.b), pick("b")).box,
    choice("Wake scale", given.scales.map((scale) => [String(scale), `${scale}×`]), String(state.scale), pick("scale")).box,
    el("button", { type: "button", on: { click: () => turn(-1) } }, "Task before"),
    el("button", { type: "button", on: { click: () => turn(1) } }, "Next task")),
  shown);
show();
