package text

import (
	"go/ast"
	"go/parser"
	"go/token"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
	"unicode"
	"unicode/utf8"

	"infill/internal/truecase"
	"infill/tokenize/tokenizetest"
)

// Words with capitals in programmers' prose, which nobody tuned on: the comments on packages of
// Go's standard library. Names of code are left out: those that any of its packages declares, and
// words with a capital in the middle, a digit, an underscore, a dot or a bracket beside them.
func TestNamesOfProgrammers(t *testing.T) {
	t.Parallel()
	tok := tokenizetest.Small(t)
	sentences, declared := goProse(t)
	var words, right, lower, over int
	different := map[string]*[2]int{} // right ones, and all
	for n, s := range sentences {
		for a, b := range truecase.Words(s) {
			word := s[a:b]
			first := firstRune(word)
			if !unicode.IsLetter(first) || truecase.StartsSentence(s[:a]) || word == "I" ||
				strings.ContainsAny(s[max(0, a-1):a], "._(/'-[*&$%=@") ||
				strings.ContainsAny(s[b:min(len(s), b+1)], "_(/*=[{'") ||
				b+1 < len(s) && s[b] == '.' && s[b+1] != ' ' || declared[word] ||
				strings.ToLower(word) == word && n%5 > 0 || // there are very many
				strings.ContainsFunc(word, unicode.IsDigit) || camel.MatchString(word) {
				continue
			}
			tm := &Template{Tok: tok, Text: s, Blanks: []Blank{{Start: a, End: b}}}
			got, spans := tm.Splice([]string{strings.ToLower(word)})
			filled := got[spans[0][0]:spans[0][1]]
			if strings.ToLower(word) == word {
				if lower++; filled != word {
					over++
				}
				continue
			}
			words++
			if different[word] == nil {
				different[word] = new([2]int)
			}
			different[word][1]++
			if filled == word {
				right++
				different[word][0]++
			}
		}
	}
	kinds := 0.0 // share of different words, each by its share
	for _, n := range different {
		kinds += float64(n[0]) / float64(n[1]) / float64(len(different))
	}
	share := func(n, of int) float64 { return float64(n) / float64(of) }
	t.Logf("%d sentences: %d words with capitals, %.1f %% right, %.1f %% of %d different ones; %.2f %% "+
		"of %d in lower case get a capital", len(sentences), words, 100*share(right, words), 100*kinds,
		len(different), 100*share(over, lower), lower)
	if words < 300 || share(right, words) < .6 || share(over, lower) > .006 {
		t.Errorf("want 300 words, 60 %% right, at most 0.6 %% too many")
	}
}

var camel = regexp.MustCompile(`\pL\p{Lu}\p{Ll}|\p{Ll}\p{Lu}`)

// goProse are sentences of the comments on packages, and the names that the packages declare.
func goProse(t *testing.T) (sentences []string, declared map[string]bool) {
	t.Helper()
	out, err := exec.Command("go", "env", "GOROOT").Output()
	if err != nil {
		t.Skip("no Go on the path, whose library has the text: ", err)
	}
	root := filepath.Join(strings.TrimSpace(string(out)), "src")
	declared = map[string]bool{}
	err = filepath.WalkDir(root, func(path string, d os.DirEntry, err error) error {
		if err != nil {
			return err
		}
		name := d.Name()
		if d.IsDir() && (name == "testdata" || name == "vendor" || name == "internal" || name == "cmd") {
			return filepath.SkipDir
		}
		if d.IsDir() || !strings.HasSuffix(name, ".go") || strings.HasSuffix(name, "_test.go") {
			return nil
		}
		f, err := parser.ParseFile(token.NewFileSet(), path, nil, parser.ParseComments)
		if err != nil {
			return err
		}
		ast.Inspect(f, func(n ast.Node) bool {
			if id, ok := n.(*ast.Ident); ok && id.IsExported() {
				declared[id.Name] = true
			}
			return true
		})
		declared[f.Name.Name] = true
		if f.Doc != nil {
			for _, par := range strings.Split(f.Doc.Text(), "\n\n") {
				if strings.HasPrefix(par, "\t") || strings.HasPrefix(par, "#") {
					continue
				}
				for _, s := range regexp.MustCompile(`(?:[^.!?]|\.\S)+[.!?]`).FindAllString(strings.Join(strings.Fields(par), " "), -1) {
					s = strings.TrimSpace(s)
					if r, _ := utf8.DecodeRuneInString(s); unicode.IsUpper(r) && len(strings.Fields(s)) > 4 {
						sentences = append(sentences, s)
					}
				}
			}
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	return sentences, declared
}
