// Blanks of a text, as infill.Parse reads them. The server decides; this is for drawing.

const blank = /\[MASK(?::([\w-]{1,64}))?(?:\*\d+(?:-\d+)?)?(?:\.|\|(?:[^\]\\]|\\.)+|\/(?:[^\\]|\\.)*?\/)?\]|_{3,}/suy;

// The number of colours in the style sheet.
const colours = 6;

// parse cuts a text into pieces: {raw, text} for text without its escapes, {raw, blank, colour}
// for the blanks, numbered from 0. Tied blanks have one colour. mask is the model's own spelling
// of a blank.
export function parse(text, mask = "[MASK]") {
  const out = [], names = new Map();
  let plain = {raw: "", text: ""}, count = 0;
  const add = (raw, text) => { plain.raw += raw; plain.text += text; };
  for (let i = 0; i < text.length;) {
    const slashes = /^\\*/.exec(text.slice(i))[0].length;
    const at = i + slashes;
    blank.lastIndex = at;
    const own = mask && text.startsWith(mask, at);
    const m = own ? [mask] : blank.exec(text);
    if (!m) {
      const n = slashes || String.fromCodePoint(text.codePointAt(i)).length;
      add(text.slice(i, i + n), text.slice(i, i + n));
      i += n;
      continue;
    }
    add("\\".repeat(slashes), "\\".repeat(slashes >> 1));
    i = at + m[0].length;
    if (slashes % 2) {
      add(m[0], m[0]);
      continue;
    }
    if (plain.raw) out.push(plain);
    plain = {raw: "", text: ""};
    const name = m[1] ?? "\0" + count;
    if (!names.has(name)) names.set(name, names.size);
    out.push({raw: m[0], blank: count++, colour: names.get(name) % colours});
  }
  if (plain.raw) out.push(plain);
  return out;
}

// spell makes words of the model's pieces: "los angeles", "walk ##ing", "Ġwalk ing".
export function spell(pieces) {
  const list = pieces.split(" ");
  const marked = list.some(p => /^[Ġ▁]/.test(p));
  return list.reduce((s, p) => {
    if (p.startsWith("##")) return s + p.slice(2);
    if (/^[Ġ▁]/.test(p)) return (s && s + " ") + p.slice(1);
    return marked || !s ? s + p : s + " " + p;
  }, "");
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
