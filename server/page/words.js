// The words of each blank, with two bars each.

import {element} from "./blanks.js";

const most = 6; // words that a blank shows

// together says what the solid bars are.
export const together = {
  search: "together: % of the fillings in the list",
  exact: "together: % of all fillings",
  sample: "together: % of the chains’ steps",
};

export const percent = p => p >= .995 ? "100" : p < .01 ? "<1" : (100 * p).toFixed(0);

// words draws the words of each blank. counts has their weights by blank, total is the sum of all.
export function words(into, parts, counts, {total, alone, method}) {
  const seen = new Set(), lists = [];
  const sorted = m => [...m.keys()].sort((a, b) => m.get(b) - m.get(a));
  counts.forEach((weights, i) => {
    const part = parts.find(p => p.blank === i);
    if (seen.has(part.group)) return; // tied: shown once
    seen.add(part.group);
    const sum = total ?? ([...weights.values()].reduce((a, b) => a + b, 0) || 1);
    const share = w => (weights.get(w) ?? 0) / sum;
    const by = new Map((alone?.[i] ?? []).map(({token, p}) => [token, p]));
    const own = method === "search" ? most - 1 : most - 2; // the others are those alone
    const list = [...new Set([...sorted(weights).slice(0, own), ...sorted(by).slice(0, 3)])]
      .slice(0, most).sort((a, b) => share(b) - share(a) || (by.get(b) ?? 0) - (by.get(a) ?? 0));
    const widest = Math.max(.2, ...list.map(w => Math.max(share(w), by.get(w) ?? 0)));
    // The server says the likeliest words of a blank alone. Of others, and of blanks that may take
    // several pieces, no more is known than that.
    const rest = Math.min(1, ...by.values()), one = !/[*|]/.test(part.raw ?? "");
    const known = w => by.has(w) ? percent(by.get(w)) : rest < .01 && one ? "<1" : "–";
    // A word outside the list of a search is in none of its fillings. Of what is computed the list
    // is a part, and of chains all but the rarest words are counted.
    const none = {search: "0", exact: "–", sample: "<1"}[method];
    lists.push(element("div", "c" + part.colour,
      element("h3", "", element("span", "chip", part.raw ?? `blank ${i + 1}`)),
      element("ul", "", ...list.map(w => bar(w, share(w) / widest,
        weights.get(w) ? percent(share(w)) : none, (by.get(w) ?? 0) / widest, known(w))))));
  });
  into.replaceChildren(...lists);
}

// bar is the line of a word: its lengths together and alone, and what is said of them.
function bar(word, solid, percents, ghost, alone) {
  const bars = [element("i", "solid"), element("i", "ghost")];
  bars[0].style.width = 100 * solid + "%";
  bars[1].style.width = 100 * ghost + "%";
  const li = element("li", "", element("b", "", word), element("span", "track", ...bars),
    element("span", "n", percents, element("small", "", alone)));
  li.title = `${word}: ${percents} % together, ${alone} % alone`;
  return li;
}
