package main

import (
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
)

// TestSummary runs go test on a small module with every kind of result.
func TestSummary(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	for name, text := range map[string]string{
		"go.mod":      "module example.org/m\n\ngo 1.26\n",
		"a/a.go":      "package a\n",
		"broken/b.go": "package broken\n\nfunc f() { undefined() }\n",
		"panics/p_test.go": `package panics

import "testing"

func TestPanic(t *testing.T) { t.Log("before"); panic("at the disco") }
`,
		"b/b_test.go": `package b

import "testing"

func TestGood(t *testing.T) { t.Log("not shown") }
func TestBad(t *testing.T) {
	t.Run("one", func(t *testing.T) { t.Error("one is wrong") })
	t.Run("two", func(t *testing.T) { t.Skip("missing data: a/slash/file") })
}
func TestLong(t *testing.T)  { t.Skip("long: run by make test-all") }
func TestOther(t *testing.T) { t.Log("x"); t.Skipf("only on Tuesdays") }
func TestData(t *testing.T)  { t.Skip("missing data: corpus; set INFILL_SHARED") }
`,
		"c/c_test.go": "package c\n\nimport \"testing\"\n\nfunc TestFine(t *testing.T) {}\n",
	} {
		file := filepath.Join(dir, name)
		if err := os.MkdirAll(filepath.Dir(file), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(file, []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	program := filepath.Join(dir, "testsum")
	if out, err := exec.Command("go", "build", "-o", program, ".").CombinedOutput(); err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
	sum := func(args ...string) (string, int) {
		c := exec.Command(program, args...)
		c.Dir = dir
		out, _ := c.CombinedOutput()
		return string(out), c.ProcessState.ExitCode()
	}

	got, code := sum("./...")
	if code != 1 {
		t.Errorf("exit status %d, want 1", code)
	}
	for _, want := range []string{
		"undefined: undefined",
		"FAIL\texample.org/m/broken [build failed]\n",
		"example.org/m/a\t[no test files]\n",
		"ok  \texample.org/m/c",
		"b_test.go:7: one is wrong\n",
		"--- FAIL: TestBad",
		"--- FAIL: TestBad/one",
		"FAIL\texample.org/m/b\t",
		"p_test.go:5: before\n",
		"panic: at the disco",
		"FAIL\texample.org/m/panics\t",
		"== 1 long test left to make test-all\n",
		"== 1 test skipped for another reason\n   example.org/m/b TestOther: only on Tuesdays\n",
		"== 2 tests skipped because data are missing\n" +
			"   example.org/m/b TestBad/two: a/slash/file\n" +
			"   example.org/m/b TestData: corpus; set INFILL_SHARED\n",
	} {
		if !strings.Contains(got, want) {
			t.Errorf("no %q", want)
		}
	}
	for _, unwanted := range []string{"not shown", "=== RUN", "\nPASS\n", "Action"} {
		if strings.Contains(got, unwanted) {
			t.Errorf("unwanted: %q", unwanted)
		}
	}
	if t.Failed() {
		t.Logf("printed:\n%s", got)
	}

	got, code = sum("./c")
	if code != 0 || !strings.HasSuffix(got, "== no test was skipped\n") {
		t.Errorf("a clean run ends with status %d and\n%s", code, got)
	}
}
