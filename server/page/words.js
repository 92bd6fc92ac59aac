// The words of each blank: two bars each, and the list of alternatives in place.

import {element, pieces, sentence} from "./blanks.js";

const most = 6; // words that a blank shows

export const percent = p => p >= .995 ? "100" : p < .01 ? "<1" : (100 * p).toFixed(0);

// words draws the words of each blank. filled(blank) is the word that a filling has there, beside the
// likeliest words beside the filling's others by blank, [{token, word, p}], alone those with all
// blanks open, [{token, p}].
export function words(into, parts, {filled, beside, alone}) {
  const seen = new Set(), lists = [];
  for (const part of parts) {
    if (part.blank === undefined || seen.has(part.group)) continue; // tied: shown once
    seen.add(part.group);
    const name = new Map(), shares = [beside?.[part.blank] ?? [], alone?.[part.blank] ?? []].map(list =>
      new Map(list.map(({token, word, p}) => {
        if (!name.has(token)) name.set(token, word ?? token);
        return [token, p];
      })));
    const [by, own] = shares, chosen = filled?.(part.blank);
    const tokens = [...new Set([...(chosen ? [chosen.token] : []), ...[...by.keys()].slice(0, most - 2),
      ...[...own.keys()].slice(0, 3)])].slice(0, most)
      .sort((a, b) => (by.get(b) ?? 0) - (by.get(a) ?? 0) || (own.get(b) ?? 0) - (own.get(a) ?? 0));
    if (chosen) name.set(chosen.token, chosen.word);
    // The server says the likeliest words. Of others, and of blanks that may take several pieces, no
    // more is known than that they are less likely.
    const single = !/[*|]/.test(part.raw ?? "");
    const said = shares.map(s => t => s.has(t) ? percent(s.get(t))
      : s.size && single && Math.min(...s.values()) < .01 ? "<1" : "–");
    lists.push(element("div", "c" + part.colour,
      element("h3", "", element("span", "chip", `${part.blank + 1} ${part.raw ?? ""}`)),
      element("ul", "", ...tokens.map(t => bar(name.get(t), t === chosen?.token, shares.map(s =>
        s.get(t) ?? 0), said.map(f => f(t)))))));
  }
  into.replaceChildren(...lists);
}

// bar is the line of a word: its lengths beside the others and alone, and what is said of them.
function bar(word, chosen, lengths, [beside, alone]) {
  const bars = [element("i", "solid"), element("i", "ghost")];
  bars.forEach((b, i) => { b.style.width = 100 * lengths[i] + "%"; });
  const li = element("li", chosen ? "chosen" : "", element("b", "", word), element("span", "track", ...bars),
    element("span", "n", beside, element("small", "", alone)));
  li.title = `${word}: ${beside} % beside the other words, ${alone} % alone`;
  return li;
}

// alternatives is a list of other words of a blank, each with the sentence that it makes: fillings of
// a text in which only that blank is open. take is called with the one that is chosen, close without.
export function alternatives(fillings, colour, take, close) {
  const list = element("ul", "alternatives " + colour, ...fillings.map(f => {
    const b = element("button", "", element("span", "u", f.probability === undefined
      ? f.score.toFixed(2).replace("-", "−") : percent(f.probability) + " %"),
    element("span", "s", ...sentence(pieces(f), p => element("mark", colour, p.text))));
    b.type = "button";
    b.addEventListener("click", e => { e.stopPropagation(); take(f); });
    return element("li", "", b);
  }));
  list.setAttribute("aria-label", "Other words");
  list.addEventListener("keydown", e => {
    const all = [...list.querySelectorAll("button")], at = all.indexOf(document.activeElement);
    e.stopPropagation();
    if (e.key === "Escape" || e.key === "ArrowUp" && at === 0) close();
    else if (e.key === "ArrowDown" || e.key === "ArrowUp") all[at + (e.key === "ArrowDown" ? 1 : -1)]?.focus();
    else return;
    e.preventDefault();
  });
  return list;
}
