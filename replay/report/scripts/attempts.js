const PAGE = 100;
const col = given.columns;
const count = col.agent.length;
const state = { agent: "", rule: "", verdict: "", night: "", kind: "", scale: "", status: "", seeds: "", set: 0 };
let order = { by: null, down: false };
let first = 0;

const numbered = (words) => words.map((word, number) => [String(number), spoken(word)]);
const named = (words) => words.map((word, number) => [String(number), word]);
const scales = [...new Set(col.scale)].sort((a, b) => a - b);

const FILTERS = [
  ["agent", "Agent", [["", "all"], ...named(given.agents)]],
  ["rule", "Rule broken", [["", "does not matter"], ["any", "any rule"], ["none", "no rule"], ...numbered(given.rules)]],
  ["verdict", "Verdict", [["", "all"], ["p", "pass"], ["f", "fail"], ["u", "unresolved"], ["c", "checker error"], ["-", "no verdict"]]],
  ["night", "Night", [["", "all"], ...named(given.nights)]],
  ["kind", "Start kind", [["", "all"], ...numbered(given.kinds)]],
  ["scale", "Wake scale", [["", "all"], ...scales.map((scale) => [String(scale), `${scale}×`])]],
  ["status", "Status", [["", "all"], ...numbered(given.statuses)]],
  ["seeds", "Seeds", [["", "all"], ["0", "development"], ["1", "held out"]]],
  ["set", "Verdict set", given.sets.map((set, number) => [String(number), number ? set.id : `${set.id} (newest)`])],
];

const verdicts = () => (given.sets[state.set] || { verdicts: [] }).verdicts;
const letter = (row, part) => (verdicts()[part] || "")[row] || "-";
const brokenBy = (row) => col.broken[row].reduce((sum, [, times]) => sum + times, 0);

function fits(row) {
  const s = state;
  if (s.agent !== "" && col.agent[row] !== +s.agent) return false;
  if (s.night !== "" && col.night[row] !== +s.night) return false;
  if (s.kind !== "" && col.kind[row] !== +s.kind) return false;
  if (s.scale !== "" && col.scale[row] !== +s.scale) return false;
  if (s.status !== "" && col.status[row] !== +s.status) return false;
  if (s.seeds !== "" && col.heldOut[row] !== +s.seeds) return false;
  if (s.verdict !== "" && letter(row, 0) !== s.verdict) return false;
  const broken = col.broken[row];
  if (s.rule === "any") return broken.length > 0;
  if (s.rule === "none") return broken.length === 0;
  return s.rule === "" || broken.some(([rule]) => rule === +s.rule);
}

function taskLink(row) {
  const hash = new URLSearchParams({
    task: given.tasks[col.task[row]], a: given.agents[col.agent[row]], scale: col.scale[row],
  });
  return el("a", { href: `tasks-${col.night[row] + 1}.html#${hash}` }, said(given.tasks[col.task[row]]));
}

const number = (value) => el("td", { class: "n" }, String(value));
const COLUMNS = [
  ["task", (row) => given.tasks[col.task[row]], (row) => el("td", {}, taskLink(row))],
  ["agent", (row) => given.agents[col.agent[row]], (row) => el("td", {}, said(given.agents[col.agent[row]]))],
  ["scale", (row) => col.scale[row], (row) => number(`${col.scale[row]}×`)],
  ["verdict", (row) => "fcup-".indexOf(letter(row, 0)), (row) => el("td", {}, verdict(letter(row, 0)))],
  ["cues", (row) => col.cues[row], (row) => number(col.cues[row])],
  ["in REM", (row) => col.rem[row], (row) => number(col.rem[row])],
  ["in true REM (hidden)", (row) => col.trueRem[row], (row) => number(col.trueRem[row])],
  ["wakings", (row) => col.wakings[row], (row) => number(col.wakings[row])],
  ["rules broken", brokenBy, (row) => el("td", {}, col.broken[row].length
    ? said(col.broken[row].map(([rule, times]) => `${given.rules[rule]} ${times}`).join(", ")) : "–")],
  ["status", (row) => col.status[row], (row) => el("td", {}, spoken(given.statuses[col.status[row]]),
    col.detail[row] ? el("small", {}, said(given.details[col.detail[row]])) : null)],
  ...given.properties.map((name, place) => [
    spoken(name),
    (row) => "fcup-".indexOf(letter(row, place + 1)),
    (row) => el("td", {}, verdict(letter(row, place + 1))),
  ]),
];
const NUMBERS = new Set(["scale", "cues", "in REM", "in true REM (hidden)", "wakings"]);
if (given.nights.length > 1) {
  COLUMNS.splice(1, 0, ["night", (row) => col.night[row], (row) => el("td", {}, said(given.nights[col.night[row]]))]);
}

function chosen() {
  const rows = [];
  for (let row = 0; row < count; row++) if (fits(row)) rows.push(row);
  if (order.by !== null) {
    const value = COLUMNS[order.by][1];
    const sign = order.down ? -1 : 1;
    rows.sort((a, b) => {
      const x = value(a), y = value(b);
      return (x < y ? -1 : x > y ? 1 : a - b) * (x === y ? 1 : sign);
    });
  }
  return rows;
}

const headRow = el("tr", {});
const body = el("tbody", {});
const caption = el("span", {});
const back = el("button", { type: "button", on: { click: () => turn(-PAGE) } }, "Back");
const onward = el("button", { type: "button", on: { click: () => turn(PAGE) } }, "Next");
const where = el("span", { role: "status" });
let rows = [];

function turn(by) {
  first = Math.max(0, Math.min(first + by, rows.length - 1));
  show();
}

function sortBy(place) {
  order = { by: place, down: order.by === place && !order.down };
  refresh();
}

function heads() {
  headRow.replaceChildren(...COLUMNS.map(([words], place) => {
    const sorted = order.by === place ? (order.down ? "descending" : "ascending") : "none";
    const mark = { none: "", ascending: " ▲", descending: " ▼" }[sorted];
    return el("th", { scope: "col", "aria-sort": sorted, class: NUMBERS.has(words) ? "n" : null },
      el("button", { type: "button", on: { click: () => sortBy(place) } }, words + mark));
  }));
}

function refresh() {
  rows = chosen();
  first = 0;
  heads();
  show();
}

function show() {
  const last = Math.min(first + PAGE, rows.length);
  body.replaceChildren(...rows.slice(first, last).map((row) => el("tr", {}, COLUMNS.map(([, , cell]) => cell(row)))));
  const set = given.sets[state.set];
  caption.textContent = `${rows.length.toLocaleString("en")} of ${count.toLocaleString("en")} attempts` +
    (set ? `; verdict set ${clean(set.id)}` : "");
  where.textContent = rows.length ? `${first + 1}–${last} of ${rows.length}` : "no attempt fits";
  back.disabled = first === 0;
  onward.disabled = last >= rows.length;
}

// A choice of one is none; on a phone the list comes first.
const ALWAYS = new Set(["agent", "rule", "verdict"]);
const offered = ([key, , options]) => ALWAYS.has(key) || options.length > (key === "set" ? 1 : 2);
const controls = FILTERS.filter(offered).map(([key, label, options]) =>
  choice(label, options, String(state[key]), (value) => { state[key] = value; refresh(); }).box);
view.append(
  el("details", { open: !matchMedia("(max-width:43rem)").matches },
    el("summary", {}, "Filters"), el("div", { class: "controls" }, controls)),
  el("div", { class: "pager" }, back, onward, where),
  el("div", { class: "scroll", tabindex: "0", role: "region", "aria-label": "Attempts" },
    el("table", { class: "table" }, el("caption", {}, caption), el("thead", {}, headRow), body)),
);
refresh();
