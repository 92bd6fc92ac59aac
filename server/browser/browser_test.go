package browser

import (
	"bufio"
	"context"
	"flag"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/chromedp/cdproto/emulation"
	"github.com/chromedp/cdproto/log"
	"github.com/chromedp/cdproto/network"
	"github.com/chromedp/cdproto/runtime"
	"github.com/chromedp/chromedp"
)

var update = flag.Bool("update", false, "write the picture in README")

const (
	root     = "../.." // of the repository
	pictures = root + "/bin/screenshots"
	sentence = "The old [MASK] sat down and closed his [MASK] for a [MASK]."
)

// serve starts infill serve, once for all tests, and returns its address.
var serve = sync.OnceValues(func() (string, error) {
	bin, err := filepath.Abs(root + "/bin/infill")
	if err != nil {
		return "", err
	}
	build := exec.Command("go", "build", "-o", bin, "./cmd/infill")
	build.Dir, build.Stderr = root, os.Stderr
	if err := build.Run(); err != nil {
		return "", fmt.Errorf("go build ./cmd/infill: %w", err)
	}
	return launch(bin, "--model", model())
})

// model is the quick one, and the default one for the picture in README.
func model() string {
	if *update {
		return "default"
	}
	return "small"
}

// servers are the programs that launch started.
var servers []*exec.Cmd

// launch starts a server of its own and returns its address.
func launch(bin string, flags ...string) (string, error) {
	c := exec.Command(bin, append([]string{"serve", "--addr", "127.0.0.1:0"}, flags...)...)
	said, err := c.StderrPipe()
	if err != nil {
		return "", err
	}
	if err := c.Start(); err != nil {
		return "", err
	}
	servers = append(servers, c)
	lines := bufio.NewScanner(said)
	var before []string
	for lines.Scan() {
		before = append(before, lines.Text())
		if i := strings.Index(lines.Text(), "http://127.0.0.1:"); i >= 0 {
			go func() {
				for lines.Scan() { // the log must not block
				}
			}()
			return strings.TrimRight(strings.Fields(lines.Text()[i:])[0], "/.,"), nil
		}
	}
	return "", fmt.Errorf("infill serve said no address:\n%s", strings.Join(before, "\n"))
}

func TestMain(m *testing.M) {
	flag.Parse()
	code := m.Run()
	quit()
	for _, c := range servers {
		_ = c.Process.Signal(os.Interrupt)
		_ = c.Wait()
	}
	os.Exit(code)
}

// A tab is a page of the browser.
type tab struct {
	t   *testing.T
	ctx context.Context
	url string // of the server
}

// browser starts a browser, once for all tests.
var browser = sync.OnceValues(func() (context.Context, error) {
	options := append(chromedp.DefaultExecAllocatorOptions[:], chromedp.ExecPath(chromium()),
		chromedp.NoSandbox, chromedp.WindowSize(1280, 1000))
	ctx, stop := chromedp.NewExecAllocator(context.Background(), options...)
	ctx, leave := chromedp.NewContext(ctx)
	quit = func() { leave(); stop() }
	return ctx, chromedp.Do(ctx) // the browser lives as long as the context of this first step
})

var quit = func() {}

// chromium finds a browser, "" for none.
func chromium() string {
	for _, name := range []string{os.Getenv("CHROMIUM"), "chromium", "chromium-browser", "google-chrome"} {
		if path, err := exec.LookPath(name); name != "" && err == nil {
			return path
		}
	}
	return ""
}

// open opens an address of the server in a new tab.
func open(t *testing.T, path string) *tab {
	t.Helper()
	if chromium() == "" {
		t.Skip("no browser: install chromium (apt-get install chromium), or name one in CHROMIUM")
	}
	url, err := serve()
	if err != nil {
		t.Fatal(err)
	}
	ctx, err := browser()
	if err != nil {
		t.Fatal(err)
	}
	p := &tab{t: t, url: url}
	return p.beside(ctx, path)
}

// another opens an address of the server in a new tab beside this one.
func (p *tab) another(path string) *tab {
	p.t.Helper()
	return p.beside(p.ctx, path)
}

// beside opens an address beside the tab of a context. An error in the page's code fails the test, and
// so does a request to any other place than the server.
func (p *tab) beside(there context.Context, path string) *tab {
	p.t.Helper()
	ctx, cancel := chromedp.NewContext(there)
	p.t.Cleanup(cancel)
	other := &tab{p.t, ctx, p.url}
	if err := chromedp.Do(ctx); err != nil {
		p.t.Fatal(err)
	}
	var mu sync.Mutex
	var wrong []string
	p.t.Cleanup(func() {
		mu.Lock()
		defer mu.Unlock()
		for _, what := range wrong {
			p.t.Error("the page: ", what)
		}
	})
	if err := chromedp.Listen(ctx, func(event any) {
		mu.Lock()
		defer mu.Unlock()
		switch e := event.(type) {
		case *runtime.EventExceptionThrown:
			wrong = append(wrong, fmt.Sprint(e.ExceptionDetails.Text, e.ExceptionDetails.Exception))
		case *log.EventEntryAdded:
			if e.Entry.Source != log.EntrySourceNetwork { // a refusal is an answer too
				wrong = append(wrong, e.Entry.Text)
			}
		case *network.EventRequestWillBeSent:
			if to := e.Request.URL; !strings.HasPrefix(to, p.url+"/") && !strings.HasPrefix(to, "data:image/svg+xml;") {
				wrong = append(wrong, "it asks another place: "+to)
			}
		}
	}); err != nil {
		p.t.Fatal(err)
	}
	other.visit(path)
	return other
}

// visit opens an address.
func (p *tab) visit(path string) {
	p.t.Helper()
	if !strings.HasPrefix(path, "http") {
		path = p.url + path
	}
	p.do(chromedp.Navigate(path))
}

// do acts, for a minute at most.
func (p *tab) do(steps ...chromedp.Action[chromedp.Void]) {
	p.t.Helper()
	ctx, cancel := context.WithTimeout(p.ctx, time.Minute)
	defer cancel()
	if err := chromedp.Do(ctx, steps...); err != nil {
		p.t.Fatal(err)
	}
}

// eval is the value of an expression in the page.
func eval[T any](p *tab, expression string, options ...chromedp.EvaluateOption) T {
	p.t.Helper()
	v, err := chromedp.Run(p.ctx, chromedp.Evaluate[T](expression, options...))
	if err != nil {
		p.t.Fatalf("%s: %v", expression, err)
	}
	return v
}

// wait waits until an expression is true.
func (p *tab) wait(expression string) {
	p.t.Helper()
	ctx, cancel := context.WithTimeout(p.ctx, time.Minute)
	defer cancel()
	if _, err := chromedp.Run(ctx, chromedp.Poll[bool](expression)); err != nil {
		p.t.Fatalf("%s never came true: %v; the page says %q", expression, err,
			eval[string](p, `document.body.innerText`))
	}
}

const (
	ready   = `document.body.dataset.state === "ready"` // nothing was asked for
	done    = `document.body.dataset.state === "done"`
	running = `document.querySelectorAll(".best mark").length > 0`
)

// write types a sentence into the field in place of what is there.
func (p *tab) write(text string) {
	p.t.Helper()
	p.do(chromedp.Focus("#text"), chromedp.Evaluate[chromedp.Void](`document.getElementById("text").select()`),
		chromedp.KeyEvent(text))
}

// emulate shows the page as a device of that width and scheme of colours does.
func (p *tab) emulate(width, height int64, features ...string) {
	p.t.Helper()
	var list []*emulation.MediaFeature
	for _, f := range features {
		name, value, _ := strings.Cut(f, "=")
		list = append(list, &emulation.MediaFeature{Name: name, Value: value})
	}
	p.do(chromedp.EmulateViewport(width, height))
	_, err := chromedp.Call(p.ctx, emulation.SetEmulatedMedia,
		emulation.SetEmulatedMediaParams{Features: list})
	if err != nil {
		p.t.Fatal(err)
	}
}

// picture writes what the tab shows.
func (p *tab) picture(name string) {
	p.t.Helper()
	b, err := chromedp.Run(p.ctx, chromedp.CaptureScreenshot())
	if err == nil {
		err = os.MkdirAll(pictures, 0o755)
	}
	if err == nil {
		err = os.WriteFile(filepath.Join(pictures, name), b, 0o644)
	}
	if err != nil {
		p.t.Fatal(err)
	}
}
