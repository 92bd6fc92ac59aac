package browser

import "testing"

// The page of the API shows what /openapi.json says, asks this server, fits a telephone and is dark
// where the rest is. Its policy blocks nothing of its own.
func TestDocs(t *testing.T) {
	p := open(t, "/")
	p.wait(`!!document.querySelector('header a[href="docs"]')`)
	grounds := map[string]bool{}
	for _, scheme := range []string{"light", "dark"} {
		p.emulate(1180, 900, "prefers-color-scheme="+scheme)
		p.visit("/docs?" + scheme + "#post-/v1/fill") // a page of its own
		const shown = `document.querySelector("rapi-doc").shadowRoot`
		p.wait(shown + `?.textContent.includes("fill the blanks of a text")`)
		grounds[eval[string](p, `getComputedStyle(`+shown+`.querySelector(".body")).getPropertyValue("--bg")`)] = true
		p.picture("docs-" + scheme + ".png")
	}
	if len(grounds) != 2 {
		t.Errorf("the page is %v in light and dark", grounds)
	}
	p.emulate(390, 844)
	buttons := eval[map[string]float64](p, `Object.fromEntries([...document.querySelector("rapi-doc")
		.shadowRoot.querySelector("api-request").shadowRoot.querySelectorAll("[part=wrap-request-btn] button")].map(b =>
		[b.textContent.trim(), b.getBoundingClientRect().right]))`)
	if len(buttons) < 3 {
		t.Errorf("buttons %v", buttons)
	}
	for name, right := range buttons {
		if right > 390 || right == 0 {
			t.Errorf("the button %s ends at %.0f", name, right)
		}
	}
	p.picture("docs-narrow.png")
	if wide := eval[int](p, `document.documentElement.scrollWidth`); wide > 390 {
		t.Errorf("the page is %d wide on a screen of 390", wide)
	}
}
