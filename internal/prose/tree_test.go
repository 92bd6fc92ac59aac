package prose

import (
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
	"unicode/utf8"

	"infill/internal/testmode"
)

// tree returns the files of the repository with a suffix, as slash-separated
// paths from its root. Test data and hidden folders are left out.
func tree(t *testing.T, suffix string) map[string]string {
	t.Helper()
	root := testmode.Root(t)
	files := map[string]string{}
	err := filepath.WalkDir(root, func(path string, d fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		name := d.Name()
		if d.IsDir() {
			skip := name == "testdata" || name == "bin" || name == "dist" ||
				strings.HasPrefix(name, ".") && path != root
			if skip {
				return filepath.SkipDir
			}
			return nil
		}
		if strings.HasSuffix(name, suffix) {
			text, err := os.ReadFile(path)
			if err != nil {
				return err
			}
			rel, err := filepath.Rel(root, path)
			if err != nil {
				return err
			}
			files[filepath.ToSlash(rel)] = string(text)
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	if len(files) == 0 {
		t.Fatalf("no file ends with %s", suffix)
	}
	return files
}

// check holds the rules against all files with a suffix.
func check(t *testing.T, suffix string, find func(name, text string) []Finding) {
	t.Helper()
	for name, text := range tree(t, suffix) {
		for _, f := range find(name, text) {
			t.Errorf("%s:%v", name, f)
		}
	}
}

// forUsers reports whether a file is read by users of the program, or prints what they read.
func forUsers(name string) bool { return !strings.HasPrefix(name, "lab/") }

// generated reports that a document is the output of a program on given texts, or
// that a Go file is marked as the output of one.
func generated(name, text string) bool {
	return strings.HasPrefix(name, "lab/notebook/compare/") ||
		strings.HasSuffix(name, ".go") && generatedMark.MatchString(text)
}

// generatedMark is the line of https://go.dev/s/generatedcode.
var generatedMark = regexp.MustCompile(`(?m)^// Code generated .* DO NOT EDIT\.$`)

// A newcomer reads all of README, so it is short.
func TestReadmeIsShort(t *testing.T) {
	t.Parallel()
	const most = 1200
	if n := len(strings.Fields(tree(t, ".md")["README.md"])); n == 0 || n > most {
		t.Errorf("README.md has %d words, want at most %d", n, most)
	}
}

// Who uses or builds the program can read all of its documents: the lab and Beam have their own.
func TestDocumentsAreShort(t *testing.T) {
	t.Parallel()
	const most = 45_000
	n := 0
	for name, text := range tree(t, ".md") {
		if forUsers(name) && !strings.HasPrefix(name, "beam/") {
			n += len(strings.Fields(text))
		}
	}
	if n < most/2 || n > most {
		t.Errorf("the documents have %d words, want at most %d", n, most)
	}
}

// A line of a table is read at a glance. Data are apart: tables of the lab and sentences of models.
func TestTables(t *testing.T) {
	t.Parallel()
	const most = 140
	rows := 0
	check(t, ".md", func(name, text string) []Finding {
		if !forUsers(name) || strings.HasPrefix(name, "models/") {
			return nil
		}
		var found []Finding
		n := 0
		for line := range strings.Lines(text) {
			n++
			line = strings.TrimSpace(line)
			if !strings.HasPrefix(line, "|") {
				continue
			}
			rows++
			if utf8.RuneCountInString(line) > most {
				found = append(found, Finding{n, "a line of a table is too long", line[:60]})
			}
		}
		return found
	})
	if rows < 400 {
		t.Errorf("only %d lines of tables found", rows)
	}
}

func TestDocuments(t *testing.T) {
	t.Parallel()
	check(t, ".md", func(name, text string) []Finding {
		var found []Finding
		if generated(name, text) {
			return nil
		}
		sentences, semicolons := 0, 0
		for _, p := range Markdown(text) {
			found = append(append(found, Phrases(p)...), Semicolons(p)...)
			if forUsers(name) {
				found = append(found, Strange(p)...)
			}
			n, k := Sentences(p)
			sentences, semicolons = sentences+n, semicolons+k
		}
		if semicolons*10 > sentences {
			found = append(found, Finding{1, "too many semicolons",
				strings.Join([]string{name, "has one in fewer than ten sentences"}, " ")})
		}
		return found
	})
}

func TestGoFiles(t *testing.T) {
	t.Parallel()
	check(t, ".go", func(name, text string) []Finding {
		if strings.HasSuffix(name, "_test.go") || generated(name, text) {
			return nil
		}
		found := Columns(text)
		comments, texts, err := GoFile(name, text)
		if err != nil {
			t.Fatal(err)
		}
		for _, p := range comments {
			found = append(append(found, Phrases(p)...), Semicolons(p)...)
			if forUsers(name) {
				found = append(found, Strange(p)...)
			}
		}
		for _, p := range texts {
			found = append(found, Phrases(p)...)
			if forUsers(name) {
				found = append(found, Strange(p)...)
			}
		}
		return found
	})
}
