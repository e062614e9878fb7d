// Elements are made from values; words are always text, never markup.
const given = JSON.parse(document.getElementById("data").textContent);
const view = document.getElementById("view");
const SVG = "http://www.w3.org/2000/svg";

function filled(node, attributes, children) {
  for (const [name, value] of Object.entries(attributes || {})) {
    if (name === "on") for (const [event, act] of Object.entries(value)) node.addEventListener(event, act);
    else if (value === true) node.setAttribute(name, "");
    else if (value !== false && value !== null && value !== undefined) node.setAttribute(name, value);
  }
  for (const child of children.flat(Infinity)) {
    if (child !== null && child !== undefined && child !== false) node.append(child);
  }
  return node;
}

const el = (tag, attributes, ...children) => filled(document.createElement(tag), attributes, children);
const svg = (tag, attributes, ...children) => filled(document.createElementNS(SVG, tag), attributes, children);

// What controls a terminal or turns a line round is shown as a replacement character.
const clean = (words) => String(words).replace(/[\p{Cc}\p{Cf}\p{Zl}\p{Zp}\p{Co}\p{Cn}]/gu, (char) =>
  char === "\u200c" || char === "\u200d" ? char : "\ufffd");
const said = (words) => el("bdi", {}, clean(words));

// options: pairs of value and words.
function choice(label, options, value, act) {
  const select = el("select", { on: { change: () => act(select.value) } },
    options.map(([key, words]) => el("option", { value: key }, clean(words))));
  select.value = value;
  return { box: el("div", {}, el("label", {}, label, select)), select };
}

const plural = (count, noun) => `${count} ${noun}${count === 1 ? "" : "s"}`;
const spoken = (name) => name.replaceAll("_", " ").replace(/^rem /, "REM ");

const STAGES = { W: "awake", R: "REM", L: "light", D: "deep" };
const stageOf = (letter) => STAGES[letter] || "no reading";
const VERDICTS = { p: "pass", f: "fail", u: "unresolved", c: "checker_error", "-": "" };
function verdict(letter) {
  const name = VERDICTS[letter] || "";
  return name ? el("span", { class: `v-${name}` }, name.replace("_", " ")) : "–";
}
