package browser

import (
	"encoding/json"
	"net/url"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
	"time"

	"github.com/chromedp/chromedp"
	"github.com/chromedp/chromedp/kb"
)

// Two samplers run side by side on the same budget, and the link repeats that.
func TestSideBySide(t *testing.T) {
	p := open(t, "/?text=He+likes+[MASK]+and+[MASK].&seed=3&steps=12&chains=9")
	p.wait(done)
	p.do(chromedp.Click("#two"))
	p.wait(`document.querySelectorAll(".run").length === 2 && ` + done)
	address, err := url.Parse(eval[string](p, `location.href`))
	if err != nil {
		t.Fatal(err)
	}
	seed := json.Number(address.Query().Get("seed"))
	records := strings.SplitAfter(eval[string](p, `document.querySelector("#json pre").textContent`), "\n}")
	samplers := eval[[]string](p, `[...document.querySelectorAll("#pair select")].map(s => s.value)`)
	if len(samplers) != 2 || samplers[0] == samplers[1] {
		t.Fatalf("samplers %q", samplers)
	}
	for i, sampler := range samplers {
		var record struct {
			Sampler  string
			Fillings []filling
		}
		if err := json.Unmarshal([]byte(records[i]), &record); err != nil {
			t.Fatal(err)
		}
		want := p.ask(map[string]any{"text": "He likes [MASK] and [MASK].", "seed": seed, "steps": 12,
			"chains": 9, "sampler": sampler, "budget": "evaluations", "scoring": "pll"})
		if record.Sampler != sampler {
			t.Errorf("run %d is of %s", i, record.Sampler)
		}
		p.same(sampler, shown(record.Fillings), shown(want))
	}
	again := p.another(address.String())
	again.wait(`document.querySelectorAll(".run").length === 2 && ` + done)
	p.same("the link", again.best(), p.best())
	p.emulate(1280, 1100)
	p.picture("two.png")
}

// The lines of the chains take arrows, Enter pins the trace of one, and the slider looks back.
func TestKeyboard(t *testing.T) {
	p := open(t, "/?text=He+likes+[MASK]+and+[MASK].&seed=3&steps=200") // of quick steps few are sent
	p.wait(done)
	p.do(chromedp.Focus(".chains button"), chromedp.KeyEvent(kb.ArrowDown), chromedp.KeyEvent(kb.ArrowDown),
		chromedp.KeyEvent(kb.Enter))
	if got := eval[[]int](p, `[...document.querySelectorAll(".chains button")].flatMap((b, i) =>
		b.getAttribute("aria-pressed") === "true" && b.classList.contains("chosen") ? [i] : [])`); len(got) != 1 ||
		got[0] != 2 {
		t.Errorf("pinned: %v", got)
	}
	p.do(chromedp.Blur(".chains li:nth-child(3) button"))
	if caption := eval[string](p, `document.querySelector(".caption").textContent`); !strings.Contains(caption, "Chain 3") ||
		!eval[bool](p, `!!document.querySelector("svg .chosen")`) {
		t.Errorf("caption: %q", caption)
	}
	last := strings.Join(p.chains(), "\n")
	p.do(chromedp.Focus(".scrub input"), chromedp.KeyEvent(kb.Home))
	if at := eval[string](p, `document.querySelector(".scrub output").textContent`); at != "0" ||
		strings.Join(p.chains(), "\n") == last {
		t.Errorf("the slider is at step %s", at)
	}
	// What a step changes lights up: the words of a line that differ from the step before.
	lit := `[...document.querySelectorAll(".chains li")].map(l => [...l.querySelectorAll("mark")].map(m =>
		m.textContent + (/new/.test(m.className) ? "!" : "")).join(" "))`
	before := eval[[]string](p, lit)
	for step := range 8 {
		p.do(chromedp.KeyEvent(kb.ArrowRight))
		after := eval[[]string](p, lit)
		for k := range after {
			was, is := strings.Fields(before[k]), strings.Fields(after[k])
			for i := range is {
				word, changed := strings.CutSuffix(is[i], "!")
				if changed != (word != strings.TrimSuffix(was[i], "!")) {
					t.Errorf("event %d, chain %d: %q after %q", step+1, k, is, was)
				}
			}
		}
		before = after
	}
	p.do(chromedp.KeyEvent(kb.End))
	if strings.Join(p.chains(), "\n") != last {
		t.Error("the slider does not come back")
	}
}

// Pictures for people to look at, and what can be said about them without eyes.
func TestPictures(t *testing.T) {
	p := open(t, "/?text=the+[MASK]+sat.&steps=0")
	p.wait(done)
	p.emulate(1180, 860)
	p.visit("/")
	p.wait(ready)
	p.picture("ready.png")
	p.do(chromedp.Click("#go"))
	p.wait(running)
	p.picture("searching.png")
	p.wait(done)
	p.same("README's sentence", p.best(), shown(p.ask(map[string]any{"text": sentence})))
	p.do(chromedp.Sleep(time.Second)) // what moves comes to rest
	p.picture("searched.png")
	p.wait(settled)
	if *update {
		p.readme()
	}
	p.visit("/?text=the+[MASK]+sat+down.")
	p.wait(done)
	p.picture("computed.png")
	p.visit("/?" + url.Values{"text": {sentence}, "method": {"sample"}, "seed": {"1"}}.Encode())
	p.wait(running)
	p.do(chromedp.Sleep(time.Second))
	p.picture("running.png")
	p.wait(done)
	p.same("the chains", p.best(), shown(p.ask(map[string]any{"text": sentence, "seed": 1, "method": "sample",
		"scoring": "pll"})))
	if said := eval[string](p, `document.querySelector(".caption").textContent`); !regexp.MustCompile(
		`\d % of the steps proposed a move, \d+ % of these were accepted`).MatchString(said) {
		t.Errorf("of moves the page says %q", said)
	}
	p.do(chromedp.Sleep(time.Second))
	p.picture("done.png")
	background := `getComputedStyle(document.body).backgroundColor`
	light := eval[string](p, background)
	p.emulate(1180, 860, "prefers-color-scheme=dark")
	p.do(chromedp.Sleep(300 * time.Millisecond))
	p.picture("dark.png")
	if eval[string](p, background) == light {
		t.Error("dark is light")
	}
	p.emulate(360, 2400, "prefers-color-scheme=light")
	p.do(chromedp.Sleep(300 * time.Millisecond))
	p.picture("narrow.png")
	if w := eval[int](p, `document.documentElement.scrollWidth`); w > 360 {
		t.Errorf("the page is %d pixels wide on a screen of 360", w)
	}
	p.emulate(1180, 860, "prefers-reduced-motion=reduce")
	p.do(chromedp.Evaluate[chromedp.Void](`document.querySelector(".chains mark").classList.add("new")`))
	if a := eval[string](p, `getComputedStyle(document.querySelector(".chains .new")).animationName`); a != "none" {
		t.Errorf("%s moves where motion is not wanted", a)
	}
}

// A text whose words are masked by the server is drawn as soon as it is known.
func TestMasked(t *testing.T) {
	p := open(t, "/?text=The+old+friend+went+home+by+train.&mask_words=2&seed=1&steps=5")
	p.wait(done)
	for _, line := range p.chains() {
		if !strings.Contains(line, "train.") && !strings.Contains(line, "The") {
			t.Errorf("a line is %q", line)
		}
	}
	if n := eval[int](p, `document.querySelector(".best li").querySelectorAll("mark").length`); n != 2 {
		t.Errorf("%d words are coloured", n)
	}
}

// Many chains are drawn in part, and a run can be stopped.
func TestManyChains(t *testing.T) {
	p := open(t, "/?text=the+[MASK]+sat.&chains=150&steps=1000&seed=1")
	p.wait(running)
	if n := len(p.chains()); n != 100 {
		t.Errorf("%d lines", n)
	}
	p.do(chromedp.Click("#go"))
	p.wait(`document.getElementById("status").textContent.startsWith("Stopped.")`)
	if label := eval[string](p, `document.getElementById("go").textContent`); label != "Fill" {
		t.Errorf("the button says %q", label)
	}
}

// A search that is stopped leaves the list of what it found.
func TestStopSearch(t *testing.T) {
	p := open(t, "/?text=the+[MASK]+[MASK]+sat+in+the+[MASK]+[MASK].&effort=thorough&top=1000&most_rows=200000")
	p.wait(running)
	p.do(chromedp.Click("#go"))
	p.wait(`document.getElementById("status").textContent.startsWith("Stopped. The list has the best")`)
	if len(p.best()) == 0 || !strings.HasPrefix(eval[string](p, `document.querySelector(".when").textContent`), "so far") {
		t.Errorf("the page says %q", eval[string](p, `document.querySelector(".best").textContent`))
	}
}

// A server with keys makes the page ask for one, which is sent and outlives a reload.
func TestKey(t *testing.T) {
	const key = "a-key-of-a-browser"
	if chromium() == "" {
		t.Skip("no browser")
	}
	if _, err := serve(); err != nil { // builds the program
		t.Fatal(err)
	}
	file := filepath.Join(t.TempDir(), "keys")
	if err := os.WriteFile(file, []byte(key+"\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	bin, err := filepath.Abs(root + "/bin/infill")
	if err != nil {
		t.Fatal(err)
	}
	address, err := launch(bin, "--api-key-file", file)
	if err != nil {
		t.Fatal(err)
	}
	ctx, err := browser()
	if err != nil {
		t.Fatal(err)
	}
	p := (&tab{t: t, url: address}).beside(ctx, "/?text=the+[MASK]+sat.&steps=2")
	p.wait(`!document.getElementById("key").hidden`)
	if said := eval[string](p, `document.getElementById("error").textContent`); !strings.Contains(said, "key") {
		t.Errorf("the page says %q", said)
	}
	p.do(chromedp.Focus("#apikey"), chromedp.KeyEvent(key+kb.Enter))
	p.wait(done)
	p.do(chromedp.Reload())
	p.wait(done)
	if len(p.best()) == 0 || eval[bool](p, `!document.getElementById("key").hidden`) {
		t.Error("after a reload the key is gone")
	}
}
