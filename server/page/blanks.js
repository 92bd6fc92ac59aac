// Blanks of a text, as text.Parse reads them. The server decides; this is for drawing.

const blank = String.raw`\[MASK(?::([\w-]{1,64}))?(?:\*\d+(?:-\d+)?)?`
  + String.raw`(?:[.#]|\|(?:[^\]\\]|\\.){1,5000}|\/(?:[^\\]|\\.){1,1000}?\/)?\]|<mask>|_{3,}`;

// The number of colours in the style sheet.
const colours = 6;

// The longest text in which blanks are looked for, in characters: more takes too long to draw.
const longest = 20_000;

// parse cuts a text into pieces: {raw, text} for text without its escapes, {raw, blank, group,
// colour} for the blanks, numbered from 0. Tied blanks are one group and have one colour. mask is the model's own spelling
// of a blank.
export function parse(text, mask = "[MASK]") {
  if (text.length > longest) return [{raw: text, text}];
  const own = mask.replace(/[\\^$.*+?()[\]{}|/]/g, "\\$&");
  const out = [], names = new Map();
  let plain = {raw: "", text: ""}, count = 0, at = 0;
  const add = (raw, text) => { plain.raw += raw; plain.text += text; };
  for (const m of text.matchAll(new RegExp(String.raw`(?<!\\)(\\*)(${own}|${blank})`, "gsu"))) {
    const [, slashes, spelt, name] = m, before = text.slice(at, m.index);
    add(before, before);
    add(slashes, "\\".repeat(slashes.length >> 1));
    at = m.index + m[0].length;
    if (slashes.length % 2) { // an odd backslash makes text of the blank
      add(spelt, spelt);
      continue;
    }
    if (plain.raw) out.push(plain);
    plain = {raw: "", text: ""};
    const key = name ?? "\0" + count;
    if (!names.has(key)) names.set(key, names.size);
    const group = names.get(key);
    out.push({raw: spelt, blank: count++, group, colour: group % colours});
  }
  add(text.slice(at), text.slice(at));
  if (plain.raw) out.push(plain);
  return out;
}

// element makes an element with a class and children. Strings become text, never HTML.
export function element(tag, name, ...children) {
  const e = document.createElement(tag);
  if (name) e.className = name;
  e.append(...children);
  return e;
}

// draw puts the sentence with its blanks filled into an element.
export function draw(into, parts, word) {
  into.replaceChildren(...parts.map(p => p.blank === undefined ? p.text
    : element("mark", "c" + p.colour, word(p.blank))));
}

// fill is the text of a filling, as nodes: its words stand in elements of their blank's class.
export function fill({text, spans}, colour) {
  const bytes = new TextEncoder().encode(text), decoder = new TextDecoder(), out = [];
  const order = spans.map((span, i) => [span, i]).sort((a, b) => a[0][0] - b[0][0]);
  let at = 0;
  for (const [[from, to], i] of order) {
    out.push(decoder.decode(bytes.subarray(at, from)),
      element("mark", colour(i), decoder.decode(bytes.subarray(from, to))));
    at = to;
  }
  out.push(decoder.decode(bytes.subarray(at)));
  return out;
}
