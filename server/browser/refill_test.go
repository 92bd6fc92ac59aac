package browser

import (
	"fmt"
	"math"
	"net/url"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/chromedp/chromedp"
	"github.com/chromedp/chromedp/kb"
)

// settled is true when the words of a filling's blanks are shown, too.
const settled = done + ` && document.querySelector(".run").dataset.words === "done"`

// field is the text that is typed.
const field = `document.getElementById("text").value`

// The bars of a blank have the model's distribution beside the other words of the marked filling,
// which the API gives for the text in which only that blank is open.
func TestBars(t *testing.T) {
	p := open(t, "/?text=He+drank+his+[MASK]+and+read+the+[MASK].")
	p.wait(settled)
	for _, row := range []int{1, 3} { // the best, and one that is clicked
		p.do(chromedp.Click(fmt.Sprintf(".best li:nth-child(%d) .u", row)))
		p.wait(fmt.Sprintf(`document.querySelector(".best .picked") === document.querySelector(".best li:nth-child(%d)")`, row))
		p.do(chromedp.Sleep(300 * time.Millisecond))
		words := eval[[]string](p, fmt.Sprintf(
			`[...document.querySelectorAll(".best li:nth-child(%d) mark")].map(m => m.textContent)`, row))
		for i, text := range []string{"He drank his [MASK] and read the " + words[1] + ".",
			"He drank his " + words[0] + " and read the [MASK]."} {
			want := map[string]float64{}
			for _, f := range p.ask(map[string]any{"text": text, "top": 20}) {
				want[f.Text[f.Spans[0][0]:f.Spans[0][1]]] = f.Probability
			}
			got := eval[map[string]string](p, fmt.Sprintf(
				`Object.fromEntries([...document.querySelectorAll(".lists > :nth-child(%d) li")].map(l =>
				[l.querySelector("b").textContent, l.querySelector(".n").firstChild.textContent]))`, i+1))
			known := 0
			for word, percent := range got {
				p, ok := want[word]
				v, err := strconv.ParseFloat(percent, 64)
				if ok && err == nil {
					known++
					if math.Abs(v-100*p) > .51 {
						t.Errorf("%s: %s %%, want %.1f", word, percent, 100*p)
					}
				}
			}
			if known < 2 || got[words[i]] == "" {
				t.Errorf("row %d, blank %d: %v of %v", row, i+1, got, want)
			}
		}
	}
}

// A click on a filled word keeps it, and fills the rest again. A click on another word makes a blank
// of it. The address has both, and goes back.
func TestPinAndRefill(t *testing.T) {
	const text = `A \[MASK] is where the [MASK] sat by the [MASK].`
	p := open(t, "/?"+url.Values{"text": {text}}.Encode())
	p.wait(done)
	word := eval[string](p, `document.querySelector(".best mark").textContent`)
	p.do(chromedp.Click(".best li:first-child mark"))
	pinned := strings.Replace(text, "the [MASK]", "the "+word, 1)
	p.wait(fmt.Sprintf(`%s === %q && %s`, field, pinned, done))
	p.same("the API", p.best(), shown(p.ask(map[string]any{"text": pinned})))
	if address := eval[string](p, `new URLSearchParams(location.search).get("text")`); address != pinned {
		t.Errorf("the address has %q", address)
	}
	// By keyboard: "where" becomes a blank. It stands two words before the one that was kept.
	p.do(chromedp.Focus(".best li:first-child mark"))
	for range 20 {
		if eval[string](p, `document.activeElement.textContent`) == "where" {
			break
		}
		p.do(chromedp.KeyEvent(kb.ArrowLeft))
	}
	p.do(chromedp.KeyEvent(kb.Enter))
	blanked := strings.Replace(pinned, "where", "[MASK]", 1)
	p.wait(fmt.Sprintf(`%s === %q && %s`, field, blanked, done))
	p.same("the API", p.best(), shown(p.ask(map[string]any{"text": blanked})))
	p.do(chromedp.Evaluate[chromedp.Void](`history.back()`))
	p.wait(fmt.Sprintf(`%s === %q && %s`, field, pinned, done))
	// Tied blanks are kept together, and words that the server masked are blanks then.
	p.visit("/?text=The+[MASK:a]+is+dead,+long+live+the+[MASK:a]+and+the+[MASK].")
	p.wait(done)
	p.do(chromedp.Click(".best li:first-child mark"))
	p.wait(`!` + field + `.includes("[MASK:a]") && ` + field + `.endsWith("and the [MASK].") && ` + done)
	p.visit("/?text=The+old+friend+went+home+by+train.&mask_words=2&seed=1")
	p.wait(done)
	p.do(chromedp.Click(".best li:first-child mark"))
	p.wait(field + `.split("[MASK]").length === 2 && !location.search.includes("mask_words") && ` + done)
}

// A word in the field becomes a blank by the button, and any word of a text that has none by a click.
func TestBlankOfWord(t *testing.T) {
	p := open(t, "/?text=no+blank+here+at+all")
	p.wait(`!!document.querySelector(".offer button")`)
	p.do(chromedp.Click(".offer button:nth-of-type(3)"))
	p.wait(field + ` === "no blank [MASK] at all" && ` + done)
	p.do(chromedp.Evaluate[chromedp.Void](`document.getElementById("text").setSelectionRange(4, 4)`),
		chromedp.Click("#blank"))
	if got := eval[string](p, field); got != "no [MASK] [MASK] at all" {
		t.Errorf("the field has %q", got)
	}
	numbers := eval[[]string](p, `[...document.querySelectorAll("#mirror .chip")].map(c => c.dataset.number)`)
	if !slices.Equal(numbers, []string{"1", "2"}) {
		t.Errorf("blanks %q", numbers)
	}
}

// The alternatives of a word open in place, by the arrow and by the pointer, each with its sentence.
func TestAlternatives(t *testing.T) {
	p := open(t, "/?text=He+drank+his+[MASK]+and+read+the+[MASK].")
	p.wait(settled)
	second := eval[string](p, `document.querySelectorAll(".best li:first-child mark")[1].textContent`)
	var want []string
	for _, f := range p.ask(map[string]any{"text": "He drank his [MASK] and read the " + second + ".", "top": 8}) {
		want = append(want, f.Text)
	}
	p.do(chromedp.Focus(".best li:first-child mark"), chromedp.KeyEvent(kb.ArrowDown))
	p.wait(`!!document.querySelector(".alternatives button")`)
	p.same("the API", eval[[]string](p, `[...document.querySelectorAll(".alternatives .s")].map(s => s.textContent)`), want)
	p.picture("alternatives.png")
	p.do(chromedp.KeyEvent(kb.ArrowDown), chromedp.KeyEvent(kb.ArrowDown), chromedp.KeyEvent(kb.Enter))
	word := strings.Fields(want[2])[3]
	p.wait(fmt.Sprintf(`%s === %q && %s`, field, "He drank his "+word+" and read the [MASK].", done))
	p.do(chromedp.Evaluate[chromedp.Void](`document.querySelector(".best mark").dispatchEvent(
		new PointerEvent("pointerover", {bubbles: true, pointerType: "mouse"}))`))
	p.wait(`!!document.querySelector(".alternatives button")`)
	p.do(chromedp.Focus(".alternatives button"), chromedp.KeyEvent(kb.Escape))
	if eval[bool](p, `!!document.querySelector(".alternatives") || !document.activeElement.matches(".best mark")`) {
		t.Error("Escape leaves the list open, or the word without focus")
	}
	// A finger opens the list by the first tap, and keeps the word by the second.
	const tap = `document.querySelector(".best mark").dispatchEvent(
		new PointerEvent("click", {bubbles: true, pointerType: "touch"}))`
	p.do(chromedp.Evaluate[chromedp.Void](tap))
	p.wait(`!!document.querySelector(".alternatives button")`)
	if !eval[bool](p, field+`.includes("[MASK]")`) {
		t.Error("the first tap keeps the word")
	}
	p.do(chromedp.Evaluate[chromedp.Void](tap))
	p.wait(`!` + field + `.includes("[MASK]")`)
}

// A stop before the first list answers at once, and asks the server for nothing more. There is no
// number then, and above all no 0.
func TestStopBeforeTheList(t *testing.T) {
	p := open(t, "/?text=the+[MASK]+sat.")
	p.wait(settled)
	p.write("She opened the [MASK] and walked into the [MASK] with a [MASK] and a [MASK].")
	p.do(chromedp.Evaluate[chromedp.Void](`window.asked = 0; const ask = window.fetch;
		window.fetch = (...a) => { asked++; return ask(...a); };
		document.getElementById("go").click(); document.getElementById("go").click()`))
	if said := eval[string](p, `document.getElementById("runs").textContent`); strings.Contains(said, "0") {
		t.Errorf("before there is a result the page says %q", said)
	}
	p.wait(`document.getElementById("status").textContent === "Stopped."`)
	if n := eval[int](p, `asked`); n != 1 {
		t.Errorf("%d requests, want the one that was stopped", n)
	}
}

// A long text leaves the button as high as it is, and is shown around its blanks.
func TestLongText(t *testing.T) {
	p := open(t, "/?text=the+[MASK]+sat.")
	p.wait(done)
	const height = `document.getElementById("go").offsetHeight`
	before := eval[int](p, height)
	long := strings.Repeat("It rained all day and nobody went out. ", 200)
	p.do(chromedp.Evaluate[chromedp.Void](fmt.Sprintf(`%s = %q; document.getElementById("text").dispatchEvent(
		new Event("input"))`, field, long+"The old [MASK] sat down. "+long[:390]+"Then the [MASK] rang. "+long)),
		chromedp.Click("#go"))
	p.wait(`location.search.includes("rained") && (` + done + ` || document.body.dataset.state === "failed")`)
	if after := eval[int](p, height); after != before {
		t.Errorf("the button is %d high, before %d", after, before)
	}
	for _, line := range p.best() {
		if len(line) > 500 || !strings.Contains(line, "The old ") || !strings.Contains(line, "Then the ") ||
			!strings.Contains(line, "…") {
			t.Errorf("a line is %q", line)
		}
	}
	if n := len(p.best()); n == 0 {
		t.Error(eval[string](p, `document.getElementById("error").textContent`))
	}
	p.picture("long.png")
}

// Settings stand under the headings of the command's help, models by their names, and a telephone
// has the chains folded.
func TestForms(t *testing.T) {
	p := open(t, "/?text=the+[MASK]+sat+on+the+[MASK].&method=sample&steps=3")
	p.wait(settled)
	p.do(chromedp.Evaluate[chromedp.Void](`document.getElementById("settings").open = true`))
	headings := eval[[]string](p, `[...document.querySelectorAll("#fields h3")].map(h => h.textContent)`)
	if !slices.Equal(headings, []string{"How blanks are filled", "What may go into blanks", "What is printed"}) {
		t.Errorf("settings under %q", headings)
	}
	p.picture("settings.png")
	if name := eval[string](p, `document.getElementById("model").textContent`); name != "Model: "+model() {
		t.Errorf("the page says %q", name)
	}
	if said := eval[string](p, `document.querySelector(".number").textContent`); !strings.Contains(said, "The number is U") {
		t.Errorf("of the numbers the page says %q", said)
	}
	for _, scheme := range []string{"light", "dark"} {
		for _, width := range []int64{1280, 390} {
			p.emulate(width, 1400, "prefers-color-scheme="+scheme)
			p.visit("/?text=" + url.QueryEscape(sentence) + "&method=sample&seed=1")
			p.wait(settled)
			if open := eval[bool](p, `document.querySelector(".chains").open`); open != (width > 500) {
				t.Errorf("at %d pixels the chains are open: %v", width, open)
			}
			if w := eval[int64](p, `document.documentElement.scrollWidth`); w > width {
				t.Errorf("the page is %d pixels wide on a screen of %d", w, width)
			}
			p.picture(fmt.Sprintf("sampled-%d-%s.png", width, scheme))
			p.visit("/?text=" + url.QueryEscape(sentence))
			p.wait(settled)
			p.picture(fmt.Sprintf("found-%d-%s.png", width, scheme))
			p.do(chromedp.Evaluate[chromedp.Void](`document.getElementById("settings").open = true`))
			if high := eval[int](p, `document.getElementById("settings").offsetHeight`); width < 500 && high > 800 {
				t.Errorf("at %d pixels the settings are %d high", width, high)
			}
		}
	}
}
