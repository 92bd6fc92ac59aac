package hub

import (
	"fmt"
	"path"
	"regexp"
	"runtime"
	"slices"
	"strings"
)

// A choice is what is taken of a repository.
type choice struct {
	export string   // the ONNX file
	names  []string // the other files
	data   bool     // some of them are its weights
	note   string   // for people
}

// A form is a way to store an export, by the name of its file without .onnx.
type form struct {
	name  *regexp.Regexp
	about string
}

// The forms that are taken without being named, as optimum, transformers.js and
// sentence-transformers call them. Files for other processors are not among them.
var (
	full   = form{regexp.MustCompile(`^model(_O[123])?$`), "fp32"}
	half   = form{regexp.MustCompile(`^model_(fp16|O4)$`), "fp16"}
	eight  = form{regexp.MustCompile(`^model_(quantized|int8|uint8` + eightFor() + `)$`), "8 bits"}
	four   = form{regexp.MustCompile(`^model_q4(f16)?$`), "4 bits"}
	byName = "precision by its name"
)

// eightFor are the names of files of 8 bits for the kind of processor that the program is made for.
func eightFor() string {
	switch runtime.GOARCH {
	case "amd64":
		return `|qu?int8_avx\w+`
	case "arm64":
		return `|qu?int8_arm64`
	}
	return ""
}

// preferred are the forms in order. Float32 comes first: it has gradients, and devices make of it
// what they need. Half precision is computed in float32. Eight bits pay only where the processor
// has products of them, fast8, and saturate or are widened elsewhere.
func preferred(fast8 bool) []form {
	if fast8 {
		return []form{full, half, eight, four}
	}
	return []form{full, half, four, eight}
}

// choose finds the ONNX file, the given one or for "" the best, and what belongs to it. id is the
// repository's name, for advice. Errors wrap errNoExport.
func choose(paths []string, file, id string, fast8 bool) (choice, error) {
	var exports []string
	for _, p := range paths {
		if isExport(p) && goodPath.MatchString(p) {
			exports = append(exports, p)
		}
	}
	slices.SortFunc(exports, func(a, b string) int { // those of the folder itself first
		if n := strings.Count(a, "/") - strings.Count(b, "/"); n != 0 {
			return n
		}
		return strings.Compare(a, b)
	})
	c := choice{export: file}
	about := byName
	if file == "" {
		c.export, about = best(exports, fast8)
	}
	switch {
	case len(exports) == 0:
		return c, fmt.Errorf("%w; export it with Hugging Face's optimum and open the folder", errNoExport)
	case c.export == "":
		return c, fmt.Errorf("%w; name one of %s", ErrManyExports, some(exports))
	case !slices.Contains(exports, c.export):
		return c, fmt.Errorf("%w called %s; there are %s", errNoExport, printable(c.export),
			some(exports))
	}
	if !c.tokenizer(paths) {
		return c, fmt.Errorf("%w with a tokenizer beside it: the repository has no tokenizer.json and "+
			"no vocab.txt; in Python AutoTokenizer.from_pretrained(%q).save_pretrained(FOLDER) writes it",
			errNoExport, id)
	}
	stem := strings.TrimSuffix(c.export, ".onnx")
	for _, p := range paths { // weights beside the graph
		rest, ok := strings.CutPrefix(p, c.export)
		if ok && (strings.HasPrefix(rest, "_data") || strings.HasPrefix(rest, ".data")) ||
			p == stem+".stored.safetensors" {
			c.names = append(c.names, p)
			c.data = true
		}
	}
	c.note = c.export + ", " + about
	return c, nil
}

// best is the ONNX file that is taken if none is named, with its precision, "" for none. Exports
// deeper than a folder called onnx are named only.
func best(exports []string, fast8 bool) (name, about string) {
	for _, form := range preferred(fast8) {
		for _, p := range exports {
			dir, base := path.Split(p)
			if (dir == "" || dir == "onnx/") && form.name.MatchString(strings.TrimSuffix(base, ".onnx")) {
				return p, form.about
			}
		}
	}
	if len(exports) == 1 {
		return exports[0], byName
	}
	return "", ""
}

// tokenizer adds the files of the tokenizer, and config.json, which lie beside the export or else
// in the outermost folder, and reports whether there is a vocabulary.
func (c *choice) tokenizer(paths []string) bool {
	for _, dir := range []string{path.Dir(c.export), "."} {
		beside := func(name string) (string, bool) {
			p := path.Join(dir, name)
			return p, slices.Contains(paths, p)
		}
		for _, vocabulary := range [][]string{{"tokenizer.json"}, {"vocab.txt"},
			{"vocab.json", "merges.txt"}} {
			if _, ok := beside(vocabulary[0]); !ok {
				continue
			}
			for _, name := range append(vocabulary, "config.json", "tokenizer_config.json",
				"special_tokens_map.json", "added_tokens.json") {
				if p, ok := beside(name); ok {
					c.names = append(c.names, p)
				}
			}
			return true
		}
	}
	return false
}

// has reports whether a file is taken.
func (c *choice) has(p string) bool { return p == c.export || slices.Contains(c.names, p) }

// some are the first of many names.
func some(names []string) string {
	const most = 200 // bytes
	text := ""
	for i, n := range names {
		if n = printable(n); i > 0 {
			n = ", " + n
		}
		if len(text)+len(n) > most && i > 0 {
			return fmt.Sprintf("%s and %d more", text, len(names)-i)
		}
		text += n
	}
	return text
}
