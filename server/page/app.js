// The page: what is typed, its address, and the runs.

import {element, parse, pieces, sentence} from "./blanks.js";
import {Settings, command, masking, rules} from "./settings.js";
import {ask, run} from "./stream.js";
import {View} from "./view.js";

const examples = [
  ["two nouns", "She opened the [MASK] and walked into the [MASK]."],
  ["one word twice", "The [MASK:a] is dead, long live the [MASK:a]!"],
  ["from a list", "The car is [MASK|red|green|very old] and the house is [MASK|small|tall|empty]."],
  ["one to three words", "She lives in [MASK*1-3w]."],
  ["an expression", "He likes [MASK/ing$/] and [MASK/ing$/]."],
];
const welcome = {text: "The old [MASK] sat down and closed his [MASK] for a [MASK]."};

const $ = id => document.getElementById(id);
const text = $("text");
const pair = []; // the choices of the second view, a sampler each
let settings, models = [], running, last;

// chosen is the model that the form names, undefined for the server's default.
const chosen = () => models.find(m => !m.default && m.name === $("models").value)?.name;
const asked = () => models.find(m => m.name === chosen()) ?? models[0];
const spelling = () => asked()?.mask;

const key = () => sessionStorage.getItem("key");

function mirror() {
  $("mirror").replaceChildren(...parse(text.value, spelling()).map(p => {
    if (p.blank === undefined) return p.raw;
    const chip = element("span", "chip c" + p.colour, p.raw);
    chip.dataset.number = p.blank + 1;
    return chip;
  }), "\u200b");
}

async function copy(what, button) {
  try {
    await navigator.clipboard.writeText(what);
  } catch { // an address without TLS has no clipboard
    const area = element("textarea");
    area.value = what;
    document.body.append(area);
    area.select();
    document.execCommand("copy");
    area.remove();
  }
  const before = button.textContent;
  if (before === "Copied") return;
  button.textContent = "Copied";
  $("status").textContent = "Copied.";
  setTimeout(() => { button.textContent = before; }, 1200);
}

// The address of a run has all that it depends on.
function address(state) {
  const query = new URLSearchParams();
  for (const [k, v] of Object.entries(state)) if (v) query.set(k, v);
  return location.pathname + (query.size ? "?" + query : "");
}

// arrive shows what the address says, and repeats its run. An address without a text has none: then
// nothing runs before somebody asks.
async function arrive() {
  const state = Object.fromEntries(new URLSearchParams(location.search));
  show({...welcome, ...state});
  if (state.text) return fill(state.seed, false);
  running?.abort();
  running = null;
  $("runs").replaceChildren();
  $("more").hidden = true;
  $("go").textContent = "Fill";
  document.body.dataset.state = "ready";
  $("status").textContent = "Write a sentence of your own, or press Fill.";
}

function show(state) {
  text.value = state.text;
  $("models").value = state.model ?? models[0]?.name ?? "";
  settings.texts = {...state, seed: ""}; // the next run draws another
  view(Boolean(state.versus), state.versus);
  mirror();
  changed();
}

const isTwo = () => $("two").getAttribute("aria-pressed") === "true";

// view shows the choices of one of the views.
function view(two, other, sampled = settings.texts.method === "sample") {
  $("search").setAttribute("aria-pressed", String(!two && !sampled));
  $("one").setAttribute("aria-pressed", String(!two && sampled));
  $("two").setAttribute("aria-pressed", String(two));
  $("pair").hidden = !two;
  if (other) pair[1].value = other;
  pair[0].value = sampler();
}

const sampler = () => settings.texts.sampler ?? settings.schemas.sampler.default;

function changed() {
  const n = Object.keys(settings.texts).length;
  $("changed").textContent = n ? `${n} changed` : "";
}

function fail(error) {
  $("error").hidden = false;
  $("error").textContent = error.status === 429 ? "The server is busy. Try again in a moment."
    : error.message;
  if (error.status === 401) {
    $("key").hidden = false;
    $("apikey").focus();
  }
}

// refill fills another text. Where the server had masked words, these are its blanks now.
function refill(other, masked) {
  const texts = settings.texts;
  if (masked) for (const k of Object.keys(texts)) if (masking.test(k)) delete texts[k];
  settings.texts = {...texts, seed: ""};
  text.value = other;
  mirror();
  changed();
  fill();
}

// offer shows a text without blanks, of which any word can become one.
function offer(whole) {
  const line = element("p", "offer", "Click a word to make a blank of it: ", ...whole
    .split(/([\p{L}\p{N}][\p{L}\p{N}\p{M}’'-]*)/u).map((word, i, all) => {
      if (i % 2 === 0) return word;
      const b = element("button", "", word);
      b.type = "button";
      b.addEventListener("click", () => refill(all.toSpliced(i, 1, "[MASK]").join("")));
      return b;
    }));
  $("runs").replaceChildren(line);
}

// blank makes a blank of what is selected in the text, or of the word at the cursor.
function blank() {
  let {selectionStart: from, selectionEnd: to} = text;
  if (from === to && !mirrored(from)) {
    from -= /[\p{L}\p{N}’'-]*$/u.exec(text.value.slice(0, from))[0].length;
    to += /^[\p{L}\p{N}’'-]*/u.exec(text.value.slice(to))[0].length;
  }
  text.setRangeText("[MASK]", from, to, "end");
  text.focus();
  mirror();
}

// mirrored reports whether a place of the text lies in a blank.
function mirrored(at) {
  let from = 0;
  return parse(text.value, spelling()).some(p => {
    const inside = p.blank !== undefined && from < at && at < from + p.raw.length;
    from += p.raw.length;
    return inside;
  });
}

// fill runs what the form says. A seed that is not given is drawn, and is in the address.
async function fill(seed, push = true) {
  running?.abort();
  const mine = running = new AbortController();
  const two = isTwo();
  const texts = settings.texts;
  texts.seed = seed || texts.seed || String(Math.floor(Math.random() * 1e6));
  const state = {text: text.value, ...texts, versus: two ? pair[1].value : "", model: chosen()};
  if (push) history.pushState(null, "", address(state));
  const parts = parse(text.value, spelling());
  const plans = [texts];
  if (two) {
    texts.method = "sample";
    texts.budget ??= "evaluations"; // what steps cost differs by sampler
    const {step_size, balance, params, ...rest} = texts; // of the first sampler
    plans.push({...rest, sampler: pair[1].value});
  }
  if (texts.method === "sample") for (const p of plans) p.scoring ??= "pll"; // U, as the chains have it
  const scale = [], chip = $("mirror").querySelector(".chip");
  if (chip) $("mirror").parentNode.scrollTop = chip.offsetTop - 60; // of a long text what is around its blanks
  $("runs").replaceChildren();
  $("runs").className = two ? "two" : "";
  $("error").hidden = true;
  $("more").hidden = true;
  $("go").textContent = "Stop";
  document.body.dataset.state = "running";
  const began = performance.now();
  const jobs = plans.map(async own => {
    const request = {text: state.text, ...settings.request(own), model: chosen()};
    const kept = Object.fromEntries(Object.entries(request).filter(([k]) => rules.includes(k)));
    const v = new View($("runs"), two ? own.sampler ?? sampler() : "", scale, {copy, refill,
      beside: async text => (await ask("v1/fill", key(), {text, top: 20, model: chosen(), ...kept})).fillings ?? []});
    const mask = spelling();
    let result;
    const on = {
      start: e => {
        v.start(parts, e, +(texts.top ?? settings.schemas.top.default), mask);
        if (!two) view(false, "", e.method === "sample");
        $("status").textContent = e.method === "search" ? "Searching the best fillings."
          : e.method === "exact" ? "Computing all fillings."
          : `${e.chains} chains of ${e.steps} steps are running, seed ${texts.seed}.`
            + (two ? " Both samplers have the same budget." : "");
      },
      found: e => v.found(e),
      step: e => v.step(e),
      done: e => { v.done(e); result = {own, record: e.record, model: v.first.model}; },
    };
    try {
      await run(request, on, {key: key(), signal: mine.signal});
    } catch (error) {
      if (mine.signal.aborted && mine === running) v.end();
      throw error;
    } finally {
      if (!v.first) v.root.remove();
    }
    return result;
  });
  const ends = await Promise.allSettled(jobs);
  if (mine !== running) return; // another run has begun
  running = null;
  $("go").textContent = "Fill";
  const bad = ends.find(e => e.status === "rejected")?.reason;
  const good = ends.filter(e => e.status === "fulfilled").map(e => e.value);
  document.body.dataset.state = bad ? "failed" : "done";
  if (mine.signal.aborted) $("status").textContent = "Stopped."
    + ($("runs").querySelector(".best li") ? " The list has the best up to then." : "");
  else if (bad) {
    $("status").textContent = "";
    fail(bad);
    if (bad.type === "no_blank") offer(state.text);
  }
  if (!good.length || bad) return;
  const record = good[0].record, best = record.fillings?.[0];
  if (record.seed === undefined) { // nothing was drawn
    delete texts.seed;
    delete state.seed;
    history.replaceState(null, "", address(state));
  }
  $("status").textContent = `Done in ${((performance.now() - began) / 1000).toFixed(1)} s`
    + (texts.seed ? `, seed ${texts.seed}.` : ".") + (two ? ` ${budget(good)}` : best ? ` The best filling: ${brief(best)}` : "")
    + (record.doubts ?? []).map(d => ` Note: ${d.message}.`).join("");
  last = state;
  $("more").hidden = false;
  $("cli").querySelector("pre").textContent =
    good.map(({own, model}) => command(state.text, own, model, settings.schemas)).join("\n");
  // A seed of 64 bits is not a JavaScript number.
  $("json").querySelector("pre").textContent = good.map(g =>
    JSON.stringify(g.record, null, 2).replace(/^  "seed": .*$/m, `  "seed": ${texts.seed},`)).join("\n");
  $("model").textContent = `Model: ${good[0].model}`;
}

// brief is a filling around its blanks.
const brief = f => sentence(pieces(f), p => p.text).join("");

// budget says what two runs had in common.
function budget(runs) {
  const what = runs[0].own.budget;
  const [a, b] = runs.map(r => r.record);
  return what === "steps" ? "Equal steps."
    : `Equal ${what}: ${a.steps} steps of ${a.sampler}, ${b.steps} of ${b.sampler}.`;
}

// meet asks which models there are. Where a key is wanted, it asks for that first.
async function meet() {
  for (;;) {
    try {
      models = (await ask("v1/models", key())).models ?? [];
      break;
    } catch (error) {
      if (error.status !== 503) throw error;
      $("status").textContent = "The model is loading.";
      await new Promise(resolve => setTimeout(resolve, 500));
    }
  }
  const select = $("models");
  select.replaceChildren(...models.map(m => element("option", "", m.name)));
  select.hidden = models.length < 2;
}

function choices() {
  for (const which of ["First sampler", "Second sampler"]) {
    const select = element("select");
    select.setAttribute("aria-label", which);
    select.append(...settings.schemas.sampler.choices.map(s => element("option", "", s)));
    pair.push(select);
  }
  $("pair").append(pair[0], " and ", pair[1]);
  pair[0].addEventListener("change", () => { settings.put("sampler", pair[0].value); fill(); });
  pair[1].addEventListener("change", () => fill());
  pair[1].value = "gibbs";
}

function listen() {
  for (const [name, sentence] of examples) {
    const b = element("button", "", name);
    b.type = "button";
    b.addEventListener("click", () => { text.value = sentence; mirror(); fill(); });
    $("examples").append(element("li", "", b));
  }
  text.addEventListener("input", mirror);
  text.addEventListener("keydown", e => {
    if (e.key !== "Enter" || e.shiftKey || e.isComposing) return;
    e.preventDefault();
    fill();
  });
  $("form").addEventListener("submit", e => {
    e.preventDefault();
    if (running) running.abort();
    else fill();
  });
  document.addEventListener("keydown", e => { if (e.key === "Escape") running?.abort(); });
  $("blank").addEventListener("click", blank);
  $("models").addEventListener("change", () => {
    view(isTwo());
    changed();
    mirror();
  });
  $("search").addEventListener("click", () => {
    settings.put("method", "");
    if (Object.keys(settings.texts).length) settings.put("method", "search"); // some ask for chains
    view(false);
    changed();
    fill();
  });
  $("one").addEventListener("click", () => {
    settings.put("method", "sample");
    view(false);
    changed();
    fill();
  });
  $("two").addEventListener("click", () => { view(true); fill(); });
  for (const id of ["cli", "json"]) {
    const b = $(id).querySelector("button");
    b.addEventListener("click", () => copy($(id).querySelector("pre").textContent, b));
  }
  $("link").addEventListener("click", () => copy(new URL(address(last), location).href, $("link")));
  addEventListener("popstate", arrive);
}

async function begin() {
  settings = new Settings($("fields"), await ask("settings.json"), () => { changed(); view(isTwo()); });
  choices();
  listen();
  const first = async () => {
    await meet();
    await arrive();
  };
  $("apikey").addEventListener("change", e => {
    sessionStorage.setItem("key", e.target.value);
    $("key").hidden = $("error").hidden = true;
    first().catch(fail);
  });
  $("apikey").addEventListener("keydown", e => {
    if (e.key !== "Enter") return;
    e.preventDefault(); // it is not the sentence that is sent
    e.target.blur();
  });
  await first();
}

begin().catch(fail);
