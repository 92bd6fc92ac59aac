package hub

import (
	"fmt"
	"path"
	"slices"
	"strings"
)

// A choice is what is taken of a repository.
type choice struct {
	export string   // the ONNX file
	names  []string // the other files
	data   bool     // some of them are its weights
}

// choose finds the ONNX file, the given one or for "" that of a usual name, or the only one, and
// what belongs to it. id is the repository's name, for advice. Errors wrap errNoExport.
func choose(paths []string, file, id string) (choice, error) {
	var exports []string
	for _, p := range paths {
		if isExport(p) && goodPath.MatchString(p) {
			exports = append(exports, p)
		}
	}
	slices.Sort(exports)
	c := choice{export: file}
	if file == "" && len(exports) == 1 {
		c.export = exports[0]
	}
	for _, usual := range []string{"onnx/model.onnx", "model.onnx"} {
		if file == "" && slices.Contains(exports, usual) {
			c.export = usual
		}
	}
	switch all := printable(strings.Join(exports, ", ")); {
	case len(exports) == 0:
		return c, fmt.Errorf("%w; export it with Hugging Face's optimum and open the folder", errNoExport)
	case c.export == "":
		return c, fmt.Errorf("%w; name one of %s", ErrManyExports, all)
	case !slices.Contains(exports, c.export):
		return c, fmt.Errorf("%w called %s; there are %s", errNoExport, printable(c.export), all)
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
	return c, nil
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
