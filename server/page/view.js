// The view of one run: best fillings, chains, energies, and the words of each blank.

import {draw, element, parse, spell} from "./blanks.js";
import {number, plot, range} from "./plot.js";

const rows = 6; // words a blank shows
const lines = 100; // chains that are drawn
const percent = p => p >= .995 ? "100" : p < .01 ? "<1" : (100 * p).toFixed(0);

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
    this.run = {
      steps: first.steps, at: [], moved: [], tokens: [],
      energy: Array.from({length: first.chains}, () => []),
    };
    this.counts = Array.from({length: first.blanks}, () => new Map());
    this.burnt = false;
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
    this.find(".best ol").replaceChildren();
    this.find(".best .when").textContent = "of the chains now";
  }

  // spell makes words of pieces of this model.
  spell(pieces) { return spell(pieces, this.first.marks_spaces); }

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

  // done takes the event that ends a run.
  done(e) {
    cancelAnimationFrame(this.due);
    this.due = null;
    this.run.steps = this.run.at.at(-1) ?? this.run.steps;
    this.record = e.record;
    const parts = parse(e.record.text, this.mask);
    if (!this.known && this.fits(parts)) {
      this.parts = parts;
      this.list.querySelectorAll(".s").forEach(s => s.replaceChildren());
    }
    if (e.marginals) {
      this.counts = e.marginals.map(l => new Map((l ?? []).map(({token, p}) => [token, p])));
      this.total = 1;
    }
    this.paint();
    this.find(".best .when").textContent = `${e.record.distinct} different in ${e.record.chains} chains`;
    this.best(e.record.fillings.map(f => {
      const bytes = new TextEncoder().encode(f.text), text = new TextDecoder();
      const out = [];
      let at = 0;
      const order = f.spans.map((span, i) => [span, i]).sort((a, b) => a[0][0] - b[0][0]);
      for (const [[from, to], i] of order) {
        out.push(text.decode(bytes.subarray(at, from)),
          element("mark", this.colour(i), text.decode(bytes.subarray(from, to))));
        at = to;
      }
      out.push(text.decode(bytes.subarray(at)));
      return {score: f.score, sentence: out, count: f.count, text: f.text};
    }));
  }

  colour(blank) { return "c" + this.parts.find(p => p.blank === blank).colour; }

  // best lists fillings: {score, sentence: nodes, count, text}. text is there to be copied.
  best(fillings) {
    this.find(".best ol").replaceChildren(...fillings.map(f => {
      const line = element("li", "", element("span", "u", number(f.score)),
        element("span", "s", ...f.sentence));
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
      draw(span, this.parts, i => this.spell(f.words[i]));
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
        const {blank, colour} = blanks[m], word = this.spell(tokens[k][blank]);
        if (mark.textContent !== word) mark.textContent = word;
        // Another class starts the light again where it is on already.
        mark.className = "c" + colour + (!before || before[k][blank] === tokens[k][blank] ? ""
          : mark.classList.contains("new") ? " newer" : " new");
      });
    });
  }

  // words draws the bars of each blank: together, and what the blank alone says.
  words() {
    const into = this.find(".lists");
    const seen = new Set();
    const lists = [];
    this.counts.forEach((counts, i) => {
      const part = this.parts.find(p => p.blank === i);
      if (seen.has(part.group)) return; // tied: shown once
      seen.add(part.group);
      const total = this.total ?? ([...counts.values()].reduce((a, b) => a + b, 0) || 1);
      const alone = new Map((this.first.alone?.[i] ?? []).map(({token, p}) => [token, p]));
      const sorted = m => [...m.keys()].sort((a, b) => m.get(b) - m.get(a));
      const names = [...new Set([...sorted(counts).slice(0, rows - 2), ...sorted(alone).slice(0, 3)])]
        .slice(0, rows).sort((a, b) => (counts.get(b) ?? 0) - (counts.get(a) ?? 0)
          || (alone.get(b) ?? 0) - (alone.get(a) ?? 0));
      const most = Math.max(.2, ...names.map(w => Math.max((counts.get(w) ?? 0) / total,
        alone.get(w) ?? 0)));
      // The server says the likeliest words of a blank alone. Of others, and of words of several
      // pieces, no more is known than that.
      const rest = Math.min(1, ...alone.values());
      const known = w => alone.has(w) ? percent(alone.get(w)) : rest < .01 && !w.includes(" ") ? "<1" : "–";
      const body = names.map(w => this.bar(w, (counts.get(w) ?? 0) / total, alone.get(w) ?? 0, known(w),
        most));
      lists.push(element("div", "c" + part.colour,
        element("h3", "", element("span", "chip", part.raw ?? `blank ${i + 1}`)),
        element("ul", "", ...body)));
    });
    into.replaceChildren(...lists);
  }

  // bar is the line of a word: its shares together and alone, of at most most. said is the latter.
  bar(word, share, alone, said, most) {
    const solid = element("i", "solid"), ghost = element("i", "ghost");
    solid.style.width = 100 * share / most + "%";
    ghost.style.width = 100 * alone / most + "%";
    const li = element("li", "", element("b", "", this.spell(word)), element("span", "track", solid, ghost),
      element("span", "n", percent(share), element("small", "", said)));
    li.title = `${this.spell(word)}: ${percent(share)} % together, ${said} % alone`;
    return li;
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
