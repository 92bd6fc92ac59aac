package hub

import (
	"fmt"
	"path"
	"slices"
	"strings"
)

// graphShare is how many times as large as a graph without weights its weights are at least. A file
// with weights in 4 bits has an eighth of those in float32.
const graphShare = 16

// choose takes of a repository's files the ONNX file, the given one or for "" that of a usual name,
// or the only one, and what belongs to it. id is the repository's name, for advice. Errors wrap
// errNoExport or ErrFile.
func choose(all []*File, file, id string) ([]*File, error) {
	sizes := map[string]int64{}
	var exports []string
	for _, f := range all {
		sizes[f.Path] = f.Bytes
		if isExport(f.Path) && goodPath.MatchString(f.Path) {
			exports = append(exports, f.Path)
		}
	}
	export := file
	if file == "" && len(exports) == 1 {
		export = exports[0]
	}
	for _, usual := range []string{"onnx/model.onnx", "model.onnx"} {
		if file == "" && slices.Contains(exports, usual) {
			export = usual
		}
	}
	switch there := printable(strings.Join(exports, ", ")); {
	case len(exports) == 0:
		return nil, fmt.Errorf("%w; export it with Hugging Face's optimum and open the folder",
			errNoExport)
	case export == "":
		return nil, fmt.Errorf("%w, one of %s", ErrFile, there)
	case !slices.Contains(exports, export):
		return nil, fmt.Errorf("%w called %s; there are %s", errNoExport, printable(export), there)
	}
	names := tokenizer(sizes, path.Dir(export))
	if names == nil {
		return nil, fmt.Errorf("%w with a tokenizer beside it: the repository has no tokenizer.json "+
			"and no vocab.txt; in Python AutoTokenizer.from_pretrained(%q).save_pretrained(FOLDER) "+
			"writes it", errNoExport, id)
	}
	stem := strings.TrimSuffix(export, ".onnx")
	data := slices.ContainsFunc(all, func(f *File) bool { return isData(f.Path, stem) })
	return slices.DeleteFunc(slices.Clone(all), func(f *File) bool {
		// A graph without weights takes them from torch's file, which is else of no use.
		torch := f.Path == stem+".safetensors" && !data && f.Bytes > graphShare*sizes[export]
		return f.Path != export && !isData(f.Path, stem) && !torch && !slices.Contains(names, f.Path)
	}), nil
}

// isData reports whether a file has weights of the ONNX file STEM.onnx.
func isData(name, stem string) bool {
	return strings.HasPrefix(name, stem+".onnx_data") || strings.HasPrefix(name, stem+".onnx.data") ||
		name == stem+".stored.safetensors"
}

// tokenizer lists the files of the tokenizer, and config.json, which lie beside the export or else
// in the outermost folder, nil if there is no vocabulary.
func tokenizer(sizes map[string]int64, beside string) (names []string) {
	for _, dir := range []string{beside, "."} {
		for _, vocabulary := range [][]string{{"tokenizer.json"}, {"vocab.txt"},
			{"vocab.json", "merges.txt"}} {
			if sizes[path.Join(dir, vocabulary[0])] == 0 {
				continue
			}
			for _, name := range append(vocabulary, "config.json", "tokenizer_config.json",
				"special_tokens_map.json", "added_tokens.json") {
				names = append(names, path.Join(dir, name))
			}
			return names
		}
	}
	return nil
}
