// The view of one run: best fillings, chains, energies, and the words of each blank.

import {element, parse, pieces, sentence, template} from "./blanks.js";
import {number, plot, range} from "./plot.js";
import {alternatives, percent, words} from "./words.js";

const lines = 100; // chains that are drawn

export class View {
  // copy takes a text, refill a text with blanks, beside the same, and gives its fillings.
  constructor(into, name, scale, {copy, refill, beside}) {
    this.root = document.getElementById("run").content.cloneNode(true).firstElementChild;
    into.append(this.root);
    this.scale = scale; // the views that share the axis of energies
    scale.push(this);
    Object.assign(this, {copy, refill, beside});
    this.asked = new Map(); // answers of beside
    this.rows = this.find(".best ol");
    for (const [event, how] of [["click", "click"], ["keydown", "bestKey"], ["focusin", "focused"],
      ["pointerover", "over"], ["pointerleave", "over"]]) {
      this.rows.addEventListener(event, e => this[how](e));
    }
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
    this.picked = 0;
    this.rows.replaceChildren();
    this.sampled = first.method === "sample";
    this.root.classList.toggle("sampled", this.sampled);
    this.find(".number").textContent = this.sampled
      ? "The number is U: the log-likelihood of the filled words in nats. Closer to 0 is likelier."
      : "The number is the score: how likely the filled words are together, in nats. Closer to 0 is likelier.";
    this.words();
    if (!this.sampled) return;
    if (matchMedia("(max-width: 34rem)").matches) this.find(".chains").open = false;
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
    this.slider.max = run.at.length - 1;
    if (this.look < 0) this.slider.value = run.at.length - 1;
    this.due ??= requestAnimationFrame(() => { this.due = null; this.paint(); });
  }

  // found takes an event of that name: the best fillings that a search has.
  found(e) {
    this.find(".best .when").textContent = e.blanks ? `${e.filled_blanks ?? 0} of ${e.blanks} blanks are filled`
      : `so far, after ${e.rows} rows of the model`;
    const same = this.fillings?.length === e.fillings.length
      && this.fillings.every((f, i) => f.text === e.fillings[i].text);
    if (!same) this.listed(e.fillings);
  }

  // listed shows fillings.
  listed(fillings) {
    this.fillings = fillings;
    this.best(fillings);
  }

  // done takes the event that ends a run.
  done(e) {
    cancelAnimationFrame(this.due);
    this.due = null;
    const {method, fillings, chains} = this.record = e.record;
    const [distinct, rows] = [e.record.distinct, e.record.model_rows ?? 0].map(n => n.toLocaleString("en"));
    const parts = parse(e.record.text, this.mask);
    this.masked = !this.known && this.fits(parts);
    if (this.masked) this.parts = parts;
    if (this.sampled) {
      this.run.steps = this.run.at.at(-1) ?? this.run.steps;
      if (this.masked) this.list.querySelectorAll(".s").forEach(s => s.replaceChildren());
      this.paint();
    }
    this.listed(fillings);
    this.find(".best .when").textContent = method === "sample" ? `${distinct} different in ${chains} chains`
      : method === "exact" ? `of ${distinct}, all computed`
      : `of ${distinct} scored, ${e.record.ended ? "unfinished" : "done"} after ${rows} rows of the model`;
    this.end();
  }

  // end is called when no list will follow: the words of the blanks are asked for.
  end() {
    this.root.classList.add("ended");
    if (this.fillings?.length) this.pick(0);
  }

  colour(blank) { return "c" + this.parts.find(p => p.blank === blank).colour; }

  // best lists fillings: {score, text, spans, count, probability}, or those of chains, with nodes.
  // What a search finds lights up.
  best(fillings) {
    const before = this.shown;
    this.shown = new Set(fillings.map(f => f.text));
    this.rows.replaceChildren(...fillings.map((f, k) => {
      const fresh = before && !this.sampled && !before.has(f.text);
      const line = element("li", fresh ? "new" : "", element("span", "u", number(f.score)),
        element("span", "s", ...(f.nodes ?? this.active(f, k))));
      if (f.probability !== undefined) line.append(element("small", "times", percent(f.probability) + " %"));
      if (f.count > 1) line.append(element("small", "times", `${f.count} chains`));
      if (f.text !== undefined) {
        const b = element("button", "copy", "Copy");
        b.type = "button";
        b.setAttribute("aria-label", "Copy: " + f.text);
        b.addEventListener("click", e => { e.stopPropagation(); this.copy(f.text, b); });
        line.append(b);
      }
      return line;
    }));
    const first = this.rows.querySelector(".w");
    if (first) (this.rows.querySelector("mark") ?? first).tabIndex = 0;
  }

  // active is the sentence of a filling, in which every word can be clicked.
  active(f, k) {
    const list = pieces(f), act = (e, title, data) => {
      Object.assign(e, {role: "button", tabIndex: -1, title});
      Object.assign(e.dataset, {row: k, ...data});
      return e;
    };
    return sentence(list, p => act(element("mark", `w ${this.colour(p.blank)}`, p.text),
      `${p.blank + 1}: keep it and fill the rest again; arrow down for others`, {blank: p.blank}),
    (text, piece, from) => text.split(/([\p{L}\p{N}][\p{L}\p{N}\p{M}’'-]*)/u).map(word => {
      const at = from;
      from += word.length;
      return /^[\p{L}\p{N}]/u.test(word)
        ? act(element("span", "w", word), "make a blank of it", {piece, at}) : word;
    }));
  }

  // click keeps the word of a blank, makes a blank of another word, or picks a filling.
  click(e) {
    const w = e.target.closest(".w"), row = [...this.rows.children].indexOf(e.target.closest("li"));
    if (!w) return row >= 0 && this.fillings && this.pick(row);
    const f = this.fillings[row], list = pieces(f);
    if (w.dataset.blank !== undefined) { // a finger cannot point, so that its first tap opens the others
      const open = e.pointerType === "touch" && this.popup?.word !== w;
      return open ? this.others(w) : this.keep(f, +w.dataset.blank);
    }
    const {piece, at} = w.dataset, {text} = list[piece], word = w.textContent;
    list.splice(+piece, 1, {text: text.slice(0, at)}, {raw: "[MASK]"}, {text: text.slice(+at + word.length)});
    this.refill(template(list, b => this.raw(b), this.mask), this.masked);
  }

  // raw is the spelling of a blank.
  raw(blank) { return this.parts.find(p => p.blank === blank && blank !== undefined)?.raw; }

  group(blank) { return this.parts.find(p => p.blank === blank)?.group; }

  // keep fills the rest again around the word that a filling has in a blank.
  keep(f, blank) {
    this.refill(template(pieces(f), b => this.group(b) === this.group(blank) ? "" : this.raw(b), this.mask),
      this.masked);
  }

  // around gives the fillings of a blank beside the other words of a filling.
  around(f, blank) {
    const text = template(pieces(f), b => this.group(b) === this.group(blank) ? this.raw(b) : "", this.mask);
    if (!this.asked.has(text)) this.asked.set(text, this.beside(text).catch(() => []));
    return this.asked.get(text);
  }

  // pick shows the words of a filling's blanks, one blank after the other.
  async pick(row) {
    const f = this.fillings[row];
    this.picked = row;
    [...this.rows.children].forEach((li, i) => li.classList.toggle("picked", i === row));
    if (!this.raw(0) || !this.root.classList.contains("ended")) return;
    const beside = [], filled = b => ({token: f.tokens[b], word: pieces(f).find(p => p.blank === b).text});
    for (const {blank} of this.parts) {
      if (blank === undefined || blank > 20) continue;
      const list = await this.around(f, blank);
      if (this.fillings[this.picked] !== f) return;
      beside[blank] = list.filter(x => x.probability !== undefined).map(x =>
        ({token: x.tokens[0], word: pieces(x).find(p => p.blank !== undefined).text, p: x.probability}));
      this.words({filled, beside});
    }
    this.root.dataset.words = "done";
  }

  focused(e) {
    const w = e.target.closest(".w");
    if (!w) return;
    this.rows.querySelectorAll(".w[tabindex='0']").forEach(x => { x.tabIndex = -1; });
    w.tabIndex = 0;
    if (+w.dataset.row !== this.picked) this.pick(+w.dataset.row);
  }

  // bestKey moves among the words, and opens the alternatives of one.
  bestKey(e) {
    const w = e.target.closest(".w");
    if (!w) return;
    const all = [...this.rows.querySelectorAll(".w")], at = all.indexOf(w);
    const to = {ArrowRight: at + 1, ArrowLeft: at - 1, Home: 0, End: all.length - 1}[e.key];
    if (to !== undefined) all[to]?.focus();
    else if (e.key === "Enter" || e.key === " ") w.click();
    else if (e.key === "ArrowDown" && w.dataset.blank !== undefined) this.others(w, true);
    else return;
    e.preventDefault();
  }

  // over opens the alternatives of a word under the pointer, after a moment, and closes others.
  over(e) {
    clearTimeout(this.hovering);
    const w = e.type === "pointerleave" || e.pointerType === "touch" ? null : e.target.closest("mark.w");
    if (e.target.closest?.(".alternatives")) return;
    this.hovering = setTimeout(() => w ? this.others(w) : this.close(), w ? 400 : 250);
  }

  close(back) {
    this.popup?.remove();
    this.popup = null;
    back?.focus();
  }

  // others lists the alternatives of a word below it.
  async others(w, focus) {
    const f = this.fillings?.[w.dataset.row], blank = +w.dataset.blank;
    if (!f || !this.root.classList.contains("ended")) return;
    const list = await this.around(f, blank);
    if (!list.length || !w.isConnected) return;
    this.close();
    const open = this.parts.filter(p => p.blank !== undefined && this.group(p.blank) !== this.group(blank));
    this.popup = alternatives(list.slice(0, 8), this.colour(blank), chosen => {
      // The text has one blank less: the chosen sentence, with the blanks that are open elsewhere.
      const words = pieces(f), other = pieces(chosen).filter(p => p.blank !== undefined);
      let k = 0;
      for (const p of words) if (this.group(p.blank) === this.group(blank)) p.text = other[k++]?.text ?? p.text;
      this.refill(template(words, b => open.some(p => p.blank === b) ? this.raw(b) : "", this.mask), this.masked);
    }, () => this.close(w));
    this.popup.word = w;
    w.closest("li").append(this.popup);
    if (focus) this.popup.querySelector("button").focus();
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
      return {...f, nodes: this.chain(f.words)};
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
    this.find(".scrub output").textContent = run.at[at];
    this.slider.setAttribute("aria-valuetext", "step " + run.at[at]);
    this.scale.forEach(v => v.curves());
  }

  // chains puts the states of a step into the lines. What differs from the step before lights up.
  chains(tokens, energy, before) {
    [...this.list.children].forEach((li, k) => {
      const [u, s] = li.firstChild.children;
      u.textContent = number(energy[k]);
      if (!s.firstChild) s.append(...this.chain([]));
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

  // chain is the sentence of a chain's words.
  chain(words) {
    return sentence(this.parts, p => element("mark", "c" + p.colour, words[p.blank] ?? ""));
  }

  words(of = {}) { words(this.find(".lists"), this.parts, {alone: this.first.alone, ...of}); }

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
