// The energy of all chains over the steps, and below it the share that moved.

const NS = "http://www.w3.org/2000/svg";
const left = 34, right = 6, top = 8, gap = 14, low = 26, foot = 16, height = 210;
const most = 100; // curves that are drawn

function shape(tag, attributes, text) {
  const e = document.createElementNS(NS, tag);
  for (const [k, v] of Object.entries(attributes)) e.setAttribute(k, v);
  if (text !== undefined) e.textContent = text;
  return e;
}

// range is the span of energies to show: all but the lowest two in a hundred.
export function range(energy) {
  const all = energy.flat().filter(Number.isFinite).sort((a, b) => a - b);
  if (!all.length) return null;
  return [all[Math.floor(all.length * .02)], all.at(-1)];
}

function ticks(lo, hi) {
  const raw = (hi - lo) / 4, ten = 10 ** Math.floor(Math.log10(raw));
  const by = [1, 2, 5, 10].find(f => f * ten >= raw) * ten;
  const out = [];
  for (let t = Math.ceil(lo / by) * by; t <= hi + 1e-9; t += by) out.push(+t.toFixed(6));
  return out;
}

export const number = (x, digits = 2) =>
  x === null || x === undefined ? "–" : x.toFixed(digits).replace("-", "−");

// plot draws into an svg. run: {steps, at: [step], energy: [chain][i], moved: [share]}. chosen is
// the chain that stands out, -1 for none, look the index of the step that is looked at.
export function plot(svg, run, [lo, hi], chosen, look) {
  const width = svg.clientWidth || 300;
  if (hi - lo < 1) [lo, hi] = [hi - 1, hi];
  const bottom = height - foot - low - gap;
  const last = Math.max(run.steps, 1);
  const x = step => left + (width - left - right) * step / last;
  const y = u => top + (bottom - top) * Math.min(1, (hi - u) / (hi - lo));
  svg.setAttribute("viewBox", `0 0 ${width} ${height}`);
  const out = [];
  for (const t of ticks(lo, hi)) {
    out.push(shape("line", {class: "grid", x1: left, x2: width - right, y1: y(t), y2: y(t)}),
      shape("text", {x: left - 6, y: y(t) + 4, "text-anchor": "end"}, number(t, t % 1 ? 1 : 0)));
  }
  const line = (values, name) => {
    let d = "";
    values.forEach((u, i) => {
      if (Number.isFinite(u)) d += `${d ? "L" : "M"}${x(run.at[i]).toFixed(1)} ${y(u).toFixed(1)}`;
    });
    if (d) out.push(shape("path", {class: name, d}));
  };
  run.energy.slice(0, most).forEach(values => line(values, "chain"));
  line(run.at.map((_, i) => {
    const u = run.energy.map(c => c[i]).filter(Number.isFinite).sort((a, b) => a - b);
    return u[u.length >> 1];
  }), "median");
  if (chosen >= 0 && run.energy[chosen]) line(run.energy[chosen], "chosen");
  const base = height - foot;
  out.push(shape("line", {class: "grid", x1: left, x2: width - right, y1: base, y2: base}));
  run.moved.forEach((share, i) => {
    if (!share) return;
    const to = x(run.at[i]), from = x(run.at[i - 1] ?? 0);
    out.push(shape("rect", {
      class: "moved", x: from + .5, width: Math.max(1, to - from - 1), y: base - low * share,
      height: low * share,
    }));
  });
  out.push(shape("text", {x: left, y: base + 13}, "0"),
    shape("text", {x: left - 6, y: base - low / 2 + 4, "text-anchor": "end"}, "moves"),
    shape("text", {x: width - right, y: base + 13, "text-anchor": "end"}, `step ${run.steps}`));
  if (look >= 0) {
    const at = x(run.at[look]);
    out.push(shape("line", {class: "look", x1: at, x2: at, y1: top, y2: base}));
    const u = run.energy[chosen]?.[look];
    if (Number.isFinite(u)) out.push(shape("circle", {class: "look", cx: at, cy: y(u), r: 3.5}));
  }
  svg.replaceChildren(...out);
}
