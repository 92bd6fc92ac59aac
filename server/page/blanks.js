// Blanks of a text, as text.Parse reads them. The server decides; this is for drawing.

const blank = String.raw`\[MASK(?::([\w-]{1,64}))?(?:\*\d+(?:-\d+)?)?`
  + String.raw`(?:[.#]|\|(?:[^\]\\]|\\.){1,5000}|\/(?:[^\\]|\\.){1,1000}?\/)?\]|<mask>|_{3,}`;

// The number of colours in the style sheet.
const colours = 6;

// The longest text in which blanks are looked for, in characters: more takes too long to draw.
const longest = 20_000;

// spelt matches a blank and the backslashes before it. mask is the model's own spelling of a blank.
const spelt = mask => new RegExp(String.raw`(?<!\\)(\\*)(${mask.replace(/[\\^$.*+?()[\]{}|/]/g, "\\$&")}`
  + `|${blank})`, "gsu");

// parse cuts a text into pieces: {raw, text} for text without its escapes, {raw, blank, group,
// colour} for the blanks, numbered from 0. Tied blanks are one group and have one colour. mask is the model's own spelling
// of a blank.
export function parse(text, mask = "[MASK]") {
  if (text.length > longest) return [{raw: text, text}];
  const out = [], names = new Map();
  let plain = {raw: "", text: ""}, count = 0, at = 0;
  const add = (raw, text) => { plain.raw += raw; plain.text += text; };
  for (const m of text.matchAll(spelt(mask))) {
    const [, slashes, raw, name] = m, before = text.slice(at, m.index);
    add(before, before);
    add(slashes, "\\".repeat(slashes.length >> 1));
    at = m.index + m[0].length;
    if (slashes.length % 2) { // an odd backslash makes text of the blank
      add(raw, raw);
      continue;
    }
    if (plain.raw) out.push(plain);
    plain = {raw: "", text: ""};
    const key = name ?? "\0" + count;
    if (!names.has(key)) names.set(key, names.size);
    const group = names.get(key);
    out.push({raw, blank: count++, group, colour: group % colours});
  }
  add(text.slice(at), text.slice(at));
  if (plain.raw) out.push(plain);
  return out;
}

// escape is text as a template has it: what looks like a blank stays text. before says that a blank
// follows.
function escape(text, before, mask) {
  const out = text.replace(spelt(mask), (_, slashes, raw) => slashes + slashes + "\\" + raw);
  return before ? out.replace(/\\+$/, s => s + s) : out;
}

// element makes an element with a class and children. Strings become text, never HTML.
export function element(tag, name, ...children) {
  const e = document.createElement(tag);
  if (name) e.className = name;
  e.append(...children);
  return e;
}

// pieces cuts a filling into {text}, and {text, blank} for what was filled.
export function pieces({text, spans}) {
  const bytes = new TextEncoder().encode(text), decoder = new TextDecoder(), out = [];
  const cut = (from, to) => decoder.decode(bytes.subarray(from, to));
  let at = 0;
  for (const [[from, to], blank] of spans.map((s, i) => [s, i]).sort((a, b) => a[0][0] - b[0][0])) {
    out.push({text: cut(at, from)}, {text: cut(from, to), blank});
    at = to;
  }
  return [...out, {text: cut(at)}];
}

// template is a text with blanks again: open(blank) is the spelling of one that is open, and nothing
// for one that keeps its word.
export function template(list, open, mask) {
  return list.map((p, i) => (p.blank === undefined ? "" : open(p.blank)) || (p.raw
    ?? escape(p.text, i + 1 < list.length && (list[i + 1].raw || open(list[i + 1].blank)), mask))).join("");
}

const most = 160, around = 60; // letters of a text between two blanks

// near are the stretches of a text beside blanks that are shown, as [from, to].
function near(text, first, last) {
  if (text.length <= most) return [[0, text.length]];
  const before = text.lastIndexOf(" ", text.length - around), after = text.indexOf(" ", around);
  const from = before < 0 ? text.length - around : before + 1, to = after < 0 ? around : after;
  return [...(first ? [] : [[0, to]]), ...(last ? [] : [[from, text.length]])];
}

// sentence is a text as nodes, around its blanks. word makes the node of a filled piece, and plain
// that of other text, from its piece and the place in it.
export function sentence(list, word, plain = text => text) {
  const blanks = list.some(p => p.blank !== undefined);
  return list.flatMap((p, i) => {
    if (p.blank !== undefined) return [word(p, i)];
    const shown = blanks ? near(p.text, i === 0, i === list.length - 1) : [[0, p.text.length]];
    const out = shown.flatMap(([from, to], k) => [!from ? "" : k ? " … " : "… ",
      plain(p.text.slice(from, to), i, from), to < p.text.length && i === list.length - 1 ? " …" : ""]);
    return out.flat().filter(x => x !== "");
  });
}
