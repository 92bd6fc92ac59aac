// The view of one run: best fillings, chains, energies, and the words of each blank.

import {draw, element, fill, parse} from "./blanks.js";
import {number, plot, range} from "./plot.js";
import {percent, together, words} from "./words.js";

const lines = 100; // chains that are drawn

export class View {
  constructor(into, name, scale, copy) {
    this.root = document.getElementById("run").content.cloneNode(true).firstElementChild;
    into.append(this.root);
    this.scale = scale; // the views that share the axis of energies
    scale.push(this);
    this.copy = copy;
    if (name) {
      this.find(".name").textContent = name;
      this.find(".name").hidden = false;
    }
    this.chosen = this.pinned = this.look = -1;
    this.list = this.find(".chains ol");
    this.slider = this.find(".scrub input");
    this.slider.addEventListener("input", () => this.lookAt(+this.slider.value));
    for (const [event, to] of [["pointerover", true], ["pointerleave", false], ["focusin", true],
      ["focusout", false]]) {
      this.list.addEventListener(event, e => this.hover(to ? e.target.closest("button") : null));
    }
    this.list.addEventListener("click", e => this.pin(e.target.closest("button")));
    this.list.addEventListener("keydown", e => this.key(e));
  }

  find(selector) { return this.root.querySelector(selector); }

  // start prepares for a run of this text. first is the event start, mask how the model spells a
  // blank.
  start(parts, first, shown, mask) {
    this.first = first;
    this.mask = mask;
    this.known = this.fits(parts); // otherwise words were masked, or the text is too long
    this.parts = this.known ? parts
      : Array.from({length: first.blanks}, (_, i) => [{blank: i, group: i, colour: i % 6},
        {text: " "}]).flat();
    this.top = shown;
    this.counts = Array.from({length: first.blanks}, () => new Map());
    this.burnt = false;
    this.find(".best ol").replaceChildren();
    this.find(".legend .together").textContent = together[first.method];
    this.sampled = first.method === "sample";
    this.root.classList.toggle("sampled", this.sampled);
    if (!this.sampled) return this.words();
    this.run = {
      steps: first.steps, at: [], moved: [], tokens: [],
      energy: Array.from({length: first.chains}, () => []),
    };
    this.find(".chains .count").textContent = first.chains === 1 ? "1 chain"
      : first.chains > lines ? `${lines} of ${first.chains} chains` : `${first.chains} chains`;
    this.list.replaceChildren(...this.run.energy.slice(0, lines).map((_, k) => {
      const b = element("button", "", element("span", "u"), " ", element("span", "s"));
      b.type = "button";
      b.tabIndex = k ? -1 : 0;
      b.dataset.chain = k;
      b.setAttribute("aria-pressed", "false");
      return element("li", "", b);
    }));
    this.find(".best .when").textContent = "of the chains now";
  }

  // fits reports whether a text has the blanks that the server found.
  fits(parts) { return parts.filter(p => p.blank !== undefined).length === this.first.blanks; }

  // step takes an event of that name.
  step(e) {
    const run = this.run;
    run.at.push(e.step);
    run.tokens.push(e.tokens);
    run.moved.push(e.moved ? e.moved.filter(Boolean).length / e.moved.length : 0);
    run.energy.forEach((list, k) => list.push(e.energy[k]));
    run.steps = Math.max(run.steps, e.step);
    // The first half adapts the sampler. Its states go when the second begins.
    if (!this.burnt && e.step > this.first.steps / 2) {
      this.burnt = true;
      this.counts.forEach(c => c.clear());
    }
    for (const words of e.tokens) {
      words.forEach((w, i) => this.counts[i].set(w, (this.counts[i].get(w) ?? 0) + 1));
    }
    this.slider.max = run.at.length - 1;
    if (this.look < 0) this.slider.value = run.at.length - 1;
    this.due ??= requestAnimationFrame(() => { this.due = null; this.paint(); });
  }

  // found takes an event of that name: the best fillings that a search has.
  found(e) {
    this.find(".best .when").textContent = `so far, after ${e.rows} rows of the model`;
    const same = this.latest?.length === e.fillings.length
      && this.latest.every((f, i) => f.text === e.fillings[i].text);
    this.latest = e.fillings;
    if (!same) this.listed(e.fillings, 1);
  }

  // listed shows fillings, and counts their words by weight: a number for all, or each one's own.
  listed(fillings, weight) {
    this.best(fillings.map(f => ({...f, sentence: fill(f, i => this.colour(i))})));
    if (this.sampled) return;
    this.counts.forEach((counts, i) => {
      counts.clear();
      for (const f of fillings) {
        counts.set(f.tokens[i], (counts.get(f.tokens[i]) ?? 0) + (weight ?? f.probability));
      }
    });
    this.words();
  }

  // done takes the event that ends a run.
  done(e) {
    cancelAnimationFrame(this.due);
    this.due = null;
    const {method, fillings, chains} = this.record = e.record;
    const [distinct, rows] = [e.record.distinct, e.record.model_rows ?? 0].map(n => n.toLocaleString("en"));
    this.root.classList.add("ended");
    const parts = parse(e.record.text, this.mask);
    const masked = !this.known && this.fits(parts);
    if (masked) this.parts = parts;
    if (this.sampled) this.chainsDone(e, masked);
    if (method === "exact") this.total = 1;
    this.listed(fillings, method === "exact" ? undefined : 1);
    this.find(".best .when").textContent = method === "sample" ? `${distinct} different in ${chains} chains`
      : method === "exact" ? `of ${distinct}, all computed`
      : `of ${distinct} scored, ${e.record.ended ? "unfinished" : "done"} after ${rows} rows of the model`;
  }

  // chainsDone ends the views of the chains. masked says that words were masked, and are known now.
  chainsDone(e, masked) {
    this.run.steps = this.run.at.at(-1) ?? this.run.steps;
    if (masked) this.list.querySelectorAll(".s").forEach(s => s.replaceChildren());
    if (e.marginals) {
      this.counts = e.marginals.map(l => new Map((l ?? []).map(({token, p}) => [token, p])));
      this.total = 1;
    }
    this.paint();
  }

  colour(blank) { return "c" + this.parts.find(p => p.blank === blank).colour; }

  // best lists fillings: {score, sentence: nodes, count, probability, text}. text is there to be
  // copied. What a search finds lights up.
  best(fillings) {
    const before = this.shown;
    this.shown = new Set(fillings.map(f => f.text));
    this.find(".best ol").replaceChildren(...fillings.map(f => {
      const fresh = before && !this.sampled && !before.has(f.text);
      const line = element("li", fresh ? "new" : "", element("span", "u", number(f.score)),
        element("span", "s", ...f.sentence));
      if (f.probability !== undefined) line.append(element("small", "times", percent(f.probability) + " %"));
      if (f.count > 1) line.append(element("small", "times", `×${f.count}`));
      if (f.text !== undefined) {
        const b = element("button", "copy", "Copy");
        b.type = "button";
        b.setAttribute("aria-label", "Copy: " + f.text);
        b.addEventListener("click", () => this.copy(f.text, b));
        line.append(b);
      }
      return line;
    }));
  }

  // leading ranks where the chains are now.
  leading(tokens, energy) {
    const seen = new Map();
    tokens.forEach((words, k) => {
      const key = words.join("\0"), f = seen.get(key);
      if (f) f.count++;
      else seen.set(key, {score: energy[k], words, count: 1});
    });
    const list = [...seen.values()].sort((a, b) => (b.score ?? -1e9) - (a.score ?? -1e9));
    this.best(list.slice(0, this.top).map(f => {
      const span = element("span");
      draw(span, this.parts, i => f.words[i]);
      return {...f, sentence: [...span.childNodes]};
    }));
  }

  paint() {
    const run = this.run, now = run.at.length - 1;
    if (now < 0) return;
    const at = this.look < 0 ? now : this.look;
    this.find(".progress i").style.width = 100 * run.at[now] / Math.max(run.steps, 1) + "%";
    const energy = run.energy.map(c => c[at]);
    this.chains(run.tokens[at], energy, run.tokens[at - 1]);
    if (!this.record) this.leading(run.tokens[now], run.energy.map(c => c[now]));
    this.words();
    this.find(".scrub output").textContent = run.at[at];
    this.slider.setAttribute("aria-valuetext", "step " + run.at[at]);
    this.scale.forEach(v => v.curves());
  }

  // chains puts the states of a step into the lines. What differs from the step before lights up.
  chains(tokens, energy, before) {
    [...this.list.children].forEach((li, k) => {
      const [u, s] = li.firstChild.children;
      u.textContent = number(energy[k]);
      if (!s.firstChild) draw(s, this.parts, () => "");
      const blanks = this.parts.filter(p => p.blank !== undefined);
      s.querySelectorAll("mark").forEach((mark, m) => {
        const {blank, colour} = blanks[m], word = tokens[k][blank];
        if (mark.textContent !== word) mark.textContent = word;
        // Another class starts the light again where it is on already.
        mark.className = "c" + colour + (!before || before[k][blank] === tokens[k][blank] ? ""
          : mark.classList.contains("new") ? " newer" : " new");
      });
    });
  }

  words() {
    words(this.find(".lists"), this.parts, this.counts, {total: this.total, alone: this.first.alone,
      method: this.first.method});
  }

  curves() {
    if (!this.run?.at.length) return;
    const spans = this.scale.map(v => v.run && range(v.run.energy)).filter(Boolean);
    const svg = this.find("svg");
    const span = spans.length ? [Math.min(...spans.map(s => s[0])), Math.max(...spans.map(s => s[1]))]
      : [-1, 0];
    plot(svg, this.run, span, this.chosen, this.look);
    const u = this.chosen >= 0 ? this.run.energy[this.chosen] : null;
    this.find(".caption").textContent = u
      ? `Chain ${this.chosen + 1}: ${number(u[0])} at the start, ${number(u.at(-1))} now.`
        + (this.pinned === this.chosen ? " Pinned." : "")
      : `Thick: the median. Bars: chains that moved. ${this.moves()}`;
    svg.setAttribute("aria-label", `Energy of ${this.run.energy.length} chains over ${this.run.at.at(-1)} `
      + `steps, from ${number(span[0], 1)} to ${number(span[1], 1)}`);
  }

  // moves says how often the sampler proposed another state, and how often that was accepted.
  moves() {
    const {move_share: proposed, acceptance} = this.record ?? {};
    return typeof proposed !== "number" || typeof acceptance !== "number" ? ""
      : `${percent(proposed)} % of the steps proposed a move, ${percent(acceptance)} % of these were `
        + "accepted.";
  }

  lookAt(i) {
    this.look = i === this.run.at.length - 1 ? -1 : i;
    this.paint();
  }

  hover(button) {
    this.choose(button ? +button.dataset.chain : this.pinned);
  }

  choose(k) {
    if (k === this.chosen) return;
    this.chosen = k;
    this.list.querySelectorAll("button").forEach((b, i) => b.classList.toggle("chosen", i === k));
    this.curves();
  }

  pin(button) {
    if (!button) return;
    const k = +button.dataset.chain;
    this.pinned = this.pinned === k ? -1 : k;
    this.list.querySelectorAll("button").forEach((b, i) =>
      b.setAttribute("aria-pressed", String(i === this.pinned)));
    this.chosen = -2;
    this.choose(k);
  }

  // key moves among the lines with the arrows, as in a list box.
  key(e) {
    const all = [...this.list.querySelectorAll("button")], at = all.indexOf(document.activeElement);
    const to = {ArrowDown: at + 1, ArrowUp: at - 1, Home: 0, End: all.length - 1}[e.key];
    if (to === undefined || !all[to]) return;
    e.preventDefault();
    all[at].tabIndex = -1;
    all[to].tabIndex = 0;
    all[to].focus();
  }
}
