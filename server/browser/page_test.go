package browser

import (
	"bytes"
	"encoding/json"
	"fmt"
	"net/http"
	"net/url"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/chromedp/chromedp"
	"github.com/chromedp/chromedp/kb"
)

// A filling is one of the best, as the API or the page has it.
type filling struct {
	Text  string  `json:"text"`
	Score float64 `json:"score"`
	Spans [][2]int
	// Probability is the probability of a single blank's filling.
	Probability float64
}

// ask asks the API for the fillings of a request.
func (p *tab) ask(request map[string]any) []filling {
	p.t.Helper()
	body, err := json.Marshal(request)
	if err != nil {
		p.t.Fatal(err)
	}
	answer, err := http.Post(p.url+"/v1/fill", "application/json", bytes.NewReader(body))
	if err != nil {
		p.t.Fatal(err)
	}
	defer func() { _ = answer.Body.Close() }()
	var record struct {
		Fillings []filling
		Error    any
	}
	if err := json.NewDecoder(answer.Body).Decode(&record); err != nil || record.Error != nil {
		p.t.Fatal(record.Error, err)
	}
	return record.Fillings
}

// best are the fillings that the page shows, each as its score and its text.
func (p *tab) best() []string {
	p.t.Helper()
	return eval[[]string](p, `[...document.querySelectorAll(".best li")].map(l =>
		l.querySelector(".u").textContent + " " + l.querySelector(".s").textContent)`)
}

// chains are the lines of the chains.
func (p *tab) chains() []string {
	p.t.Helper()
	return eval[[]string](p, `[...document.querySelectorAll(".chains li")].map(l => l.textContent)`)
}

// shown is how the page writes fillings.
func shown(list []filling) []string {
	var out []string
	for _, f := range list {
		out = append(out, strings.Replace(fmt.Sprintf("%.2f ", f.Score), "-", "−", 1)+f.Text)
	}
	return out
}

func (p *tab) same(what string, got, want []string) {
	p.t.Helper()
	if len(want) == 0 || !slices.Equal(got, want) {
		p.t.Errorf("%s: the page has\n%s\nwant\n%s", what, strings.Join(got, "\n"), strings.Join(want, "\n"))
	}
}

// A stranger types a sentence, sees the chains move, and reads what the API answers for the same
// seed. The address repeats the run in another tab, and the command that is shown in a shell.
func TestFill(t *testing.T) {
	p := open(t, "/?text=the+[MASK]+sat.&method=sample")
	p.wait(running)
	const text = "She opened the [MASK] and walked into the [MASK]."
	p.write(text + kb.Enter)
	p.wait(`location.search.includes("opened")`)
	p.wait(`+document.querySelector(".scrub input").max >= 2 || ` + done) // steps, one after the other
	if steps := eval[int](p, `+document.querySelector(".scrub input").max`); steps < 2 {
		t.Errorf("%d steps were seen", steps)
	}
	p.wait(done)
	address := eval[string](p, `location.href`)
	parsed, err := url.Parse(address)
	if err != nil {
		t.Fatal(err)
	}
	seed := parsed.Query().Get("seed")
	if parsed.Query().Get("text") != text || seed == "" {
		t.Errorf("the address is %s", address)
	}
	best := p.best()
	p.same("the API", best, shown(p.ask(map[string]any{"text": text, "seed": json.Number(seed),
		"method": "sample", "scoring": "pll"})))
	if n := len(p.chains()); n != 25 {
		t.Errorf("%d lines, want one a chain", n)
	}

	again := p.another(address)
	again.wait(done)
	p.same("the link", again.best(), best)
	p.same("the link's chains", again.chains(), p.chains())

	command := eval[string](p, `document.querySelector("#cli pre").textContent`)
	p.same("the command", shell(t, command), best)
	var record struct{ Fillings []filling }
	shownJSON := eval[string](p, `document.querySelector("#json pre").textContent`)
	if err := json.Unmarshal([]byte(shownJSON), &record); err != nil {
		t.Fatal(err)
	}
	p.same("the JSON", shown(record.Fillings), best)
}

// shell runs a command of the page and returns its lines as the page writes them.
func shell(t *testing.T, command string) []string {
	t.Helper()
	bin, err := filepath.Abs(root + "/bin")
	if err != nil {
		t.Fatal(err)
	}
	c := exec.Command("bash", "-c", command)
	c.Env = append(os.Environ(), "PATH="+bin+":"+os.Getenv("PATH"), "INFILL_QUIET=true",
		"INFILL_MODEL="+model())
	out, err := c.Output()
	if err != nil {
		t.Fatalf("%s: %v", command, err)
	}
	var lines []string
	for line := range strings.Lines(string(out)) {
		parts := strings.Split(strings.TrimSpace(line), "  ") // a percentage may be between
		lines = append(lines, strings.Replace(parts[0], "-", "−", 1)+" "+parts[len(parts)-1])
	}
	return lines
}

// The list is shown while it grows.
func TestListGrows(t *testing.T) {
	p := open(t, "/?text=the+[MASK]+sat.")
	p.wait(done)
	p.visit("/?top=30") // long enough to be seen
	p.wait(ready)
	p.do(chromedp.Evaluate[chromedp.Void](`window.lists = []; new MutationObserver(() => lists.push(
		[...document.querySelectorAll(".best .s")].map(s => s.textContent))).observe(
		document.getElementById("runs"), {subtree: true, childList: true})`))
	p.write("She opened the [MASK] and walked into the [MASK] with a [MASK] and a [MASK].")
	p.do(chromedp.Click("#go"))
	p.wait(`location.search.includes("opened") && ` + done)
	lists := eval[[][]string](p, `lists.filter((l, i) => l.length && String(l) !== String(lists[i - 1]))`)
	if len(lists) < 2 {
		t.Errorf("lists that were shown: %q", lists)
	}
}

// Without settings the best fillings are searched. At its end the list is the API's and the
// command's.
func TestSearch(t *testing.T) {
	p := open(t, "/?text=the+[MASK]+sat.&steps=0")
	p.wait(done)
	p.visit("/")
	p.wait(ready)
	if shown := eval[string](p, `document.getElementById("runs").textContent`); shown != "" {
		t.Errorf("before anybody asked the page shows %q", shown)
	}
	const text = "She opened the [MASK] and walked into the [MASK] with a [MASK] and a [MASK]."
	p.write(text)
	p.do(chromedp.Click("#go"))
	p.wait(`location.search.includes("opened") && ` + done)
	best := p.best()
	p.same("the API", best, shown(p.ask(map[string]any{"text": text})))
	p.same("the command", shell(t, eval[string](p, `document.querySelector("#cli pre").textContent`)), best)
	if eval[bool](p, `location.search.includes("seed") || !!document.querySelector(".chains").offsetParent`) {
		t.Error("the page shows a seed, or chains")
	}
	if said := eval[string](p, `document.querySelector(".best .when").textContent`); !strings.Contains(said, "rows of the model") {
		t.Errorf("of the work the page says %q", said)
	}
	// The button shows chains, and the other one comes back.
	p.do(chromedp.Click("#one"))
	p.wait(`location.search.includes("method=sample") && ` + done)
	if len(p.chains()) != 25 || eval[string](p, pressed) != "one" {
		t.Errorf("%d chains, pressed: %s", len(p.chains()), eval[string](p, pressed))
	}
	p.do(chromedp.Click("#search"))
	p.wait(`!location.search.includes("method") && ` + done)
	p.same("the search", p.best(), best)
	if eval[string](p, pressed) != "search" {
		t.Errorf("pressed: %s", eval[string](p, pressed))
	}
}

// pressed is the view that is chosen.
const pressed = `[...document.querySelectorAll("#views [aria-pressed=true]")].map(b => b.id).join()`

// Settings are in the address and in the command, quotes and lists too.
func TestSettings(t *testing.T) {
	const text = `It's the [MASK:a], "the [MASK:a]", he said.`
	query := url.Values{"text": {text}, "seed": {"18446744073709551615"}, "steps": {"8"},
		"chains": {"7"}, "temperature": {"1.5"}, "ban": {"man, dog"}, "no_repeat": {"text"},
		"sampler": {"gwg"}, "params": {"draws=2"}, "top": {"3"}}
	p := open(t, "/?"+query.Encode())
	p.wait(done)
	want := shown(p.ask(map[string]any{"text": text, "seed": json.Number(query.Get("seed")),
		"steps": 8, "chains": 7, "temperature": 1.5, "ban": []string{"man", "dog"}, "no_repeat": "text",
		"sampler": "gwg", "params": map[string]any{"draws": 2}, "top": 3}))
	p.same("the API", p.best(), want)
	if changed := eval[string](p, `document.getElementById("changed").textContent`); changed != "8 changed" {
		t.Errorf("settings: %q", changed)
	}
	p.same("the command", shell(t, eval[string](p, `document.querySelector("#cli pre").textContent`)), want)
	if shown := eval[string](p, `document.querySelector("#json pre").textContent`); !strings.Contains(shown,
		`"seed": 18446744073709551615,`) {
		t.Errorf("the JSON has another seed: %s", shown)
	}
	// A single blank is computed, with the share of each filling, and no seed takes part.
	p.visit("/?text=the+[MASK]+of+the+house&seed=4")
	p.wait(done)
	if eval[bool](p, `location.search.includes("seed") || !document.querySelector(".best li .times").textContent
		.endsWith(" %") || !/of [\d,]+, all computed/.test(document.querySelector(".when").textContent)`) {
		t.Errorf("the page says %q", eval[string](p, `location.search + document.querySelector(".best").textContent`))
	}
	p.same("the command", shell(t, eval[string](p, `document.querySelector("#cli pre").textContent`)), p.best())
	p.visit("/?text=the+[MASK:x]+of+the+[MASK:x*1]")
	p.wait(done)
	if n := eval[int](p, `document.querySelectorAll(".lists h3").length`); n != 1 {
		t.Errorf("tied blanks have %d lists of words", n)
	}
	// A list of words is a file on the command line.
	p.visit("/?" + url.Values{"text": {"My [MASK] went home."}, "allow": {"dog, old friend,cat"},
		"seed": {"2"}, "steps": {"5"}, "vocab": {"whole-words"}, "sampler": {"dmala"}}.Encode())
	p.wait(settled)
	if alone := eval[string](p, `[...document.querySelectorAll(".lists li")].find(l =>
		l.textContent.includes("old friend")).querySelector("small").textContent`); alone != "–" {
		t.Errorf("alone, a phrase has %q, which is not known", alone)
	}
	command := eval[string](p, `document.querySelector("#cli pre").textContent`)
	out := strings.Join(shell(t, command), "\n")
	for _, line := range p.best() {
		if _, text, _ := strings.Cut(line, " "); !strings.Contains(out, text) {
			t.Errorf("%s gives\n%s\nwithout %s", command, out, text)
		}
	}
}

// Text of users, wherever it comes from, stays text.
func TestNastyText(t *testing.T) {
	const nasty = `<img src=x onerror="document.title='hurt'"> & </textarea><script>document.title='hurt'` +
		`</script> the [MASK|<b>bold</b>|&lt;] sat on the [MASK].`
	p := open(t, "/?"+url.Values{"text": {nasty}, "steps": {"3"}, "sampler": {`"><b>x`}, "ban": {"<i>x</i>"},
		"versus": {"<u>"}, "model": {"<s>"}}.Encode())
	p.wait(`document.body.dataset.state !== undefined && document.body.dataset.state !== "running"`)
	p.visit("/?steps=3")
	p.wait(ready)
	p.write(nasty + kb.Enter)
	p.wait(`location.search.includes("onerror") && ` + done)
	for _, line := range append(p.best(), p.chains()...) {
		if !strings.Contains(line, `<img src=x onerror="document.title='hurt'"> & </textarea><script>`) {
			t.Errorf("a line is %q", line)
		}
	}
	if shown := eval[string](p, `document.getElementById("mirror").textContent`); !strings.Contains(shown, nasty) {
		t.Errorf("the field shows %q", shown)
	}
	if eval[bool](p, `document.title.includes("hurt") || !!document.querySelector(
		"main img, main script, main b:not(.lists b), main u, main s, main i:not([class]):not(.progress i)")`) {
		t.Error("the text became HTML")
	}
}

// A mistake is said in the server's words, to screen readers too, and the page goes on.
func TestMistake(t *testing.T) {
	p := open(t, "/?text=no+blank+here")
	p.wait(`document.body.dataset.state === "failed"`)
	said := eval[string](p, `document.querySelector("[role=alert]:not([hidden])").textContent`)
	if !strings.Contains(said, "write [MASK], <mask> or ___") {
		t.Errorf("the page says %q", said)
	}
	if eval[bool](p, `!!document.querySelector(".run")`) {
		t.Error("an empty run is shown")
	}
	p.write("the ___ sat, {mask}." + kb.Enter)
	p.wait(done)
	if status := eval[string](p, `document.getElementById("status").textContent`); !strings.Contains(status,
		"Note: {mask} is not a blank") {
		t.Errorf("status %q", status)
	}
	if eval[bool](p, `!document.getElementById("error").hidden`) || len(p.best()) == 0 {
		t.Error("the mistake stays")
	}
}

// What is drawn as a blank is what the server takes for one.
func TestBlanks(t *testing.T) {
	p := open(t, "/?text=the+[MASK]+sat.&steps=0")
	p.wait(done)
	for _, text := range []string{
		"the [MASK] and ___ and ____, __init__, <mask>, \\<mask>",
		`a \[MASK] and \\[MASK], \___ and \\___`,
		"[MASK:a] or [MASK:a*2] or [MASK:b_1-x]",
		`the [MASK|red|light blue|a\]b] car`,
		`in [MASK#] or [MASK:n*2#] he likes [MASK/^[a-z]+ing$/] and [MASK*1/a\/?]?/]`,
		"[MASK*1-2], [MASK.] [MASKED] [mask] [MASK] é 😀 ___",
	} {
		got := eval[struct {
			Blanks int
			Plain  string
		}](p, fmt.Sprintf(`import("./blanks.js").then(({parse}) => {
			const parts = parse(%q);
			return {Blanks: parts.filter(p => p.blank !== undefined).length,
				Plain: parts.map(p => p.text ?? "\u0000").join("")};
		})`, text), chromedp.EvalAwaitPromise)
		f := p.ask(map[string]any{"text": text, "seed": 1, "steps": 0, "chains": 2, "case": "model"})[0]
		plain, at := "", 0
		for _, span := range f.Spans {
			plain += f.Text[at:span[0]] + "\x00"
			at = span[1]
		}
		plain += f.Text[at:]
		if got.Blanks != len(f.Spans) || got.Plain != plain {
			t.Errorf("%s: %d blanks and %q, want %d and %q", text, got.Blanks, got.Plain, len(f.Spans), plain)
		}
	}
}
