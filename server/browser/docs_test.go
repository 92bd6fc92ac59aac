package browser

import "testing"

// The page of the API fits a telephone, is dark where the rest is, and its links lead to its parts.
func TestDocs(t *testing.T) {
	p := open(t, "/")
	p.wait(`!!document.querySelector('header a[href="docs"]')`)
	p.visit("/docs")
	p.emulate(1180, 900)
	p.picture("docs.png")
	if n := eval[int](p, `document.querySelectorAll("main section").length`); n < 20 {
		t.Errorf("%d parts", n)
	}
	dead := eval[int](p, `[...document.querySelectorAll('a[href^="#"]')].filter(a =>
		!document.getElementById(a.getAttribute("href").slice(1))).length`)
	if dead > 0 {
		t.Errorf("%d links lead nowhere", dead)
	}
	p.emulate(1180, 900, "prefers-color-scheme=dark")
	p.picture("docs-dark.png")
	light := `getComputedStyle(document.body).backgroundColor`
	if got := eval[string](p, light); got == "rgb(252, 251, 248)" {
		t.Error("dark is light")
	}
	p.emulate(390, 844)
	p.picture("docs-narrow.png")
	if wide := eval[int](p, `document.documentElement.scrollWidth`); wide > 390 {
		t.Errorf("the page is %d wide on a screen of 390", wide)
	}
	p.visit("/docs#o-record")
	p.picture("docs-record.png")
}
