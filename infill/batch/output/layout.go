package output

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"infill/infill/batch/input"
	"infill/infill/settings"
)

// ErrLayout is an output that cannot have the form that is asked for.
var ErrLayout = errors.New("no such output")

// A shard makes no rows: the columns of JSON lines are known when all lines are, and each table
// would begin with a header. Join does not read the input, whose columns a table has too.
var (
	errRowsOfShard = fmt.Errorf("%w: the output of a shard is JSON lines, a record for each "+
		"sentence, such as part.jsonl; rows are made by a run of the whole file", ErrLayout)
	errRowsOfJoin = fmt.Errorf("%w: the outputs of shards are joined to JSON lines, a record for "+
		"each sentence, such as joined.jsonl; rows are made by a run of the whole file, or from "+
		"these records by another program", ErrLayout)
)

// A Kind is what the records of an output are of.
type Kind int

// The kinds of records.
const (
	Fillings Kind = iota // a text with blanks
	Variants             // a complete text. A row has a variant in the place of the text
	Scores               // a text that is scored
	Pairs                // a text that is scored and compared with another one
	Lists                // a line of an n-best list, whose filling is the line with its score
)

// A Layout says what the records of an output look like.
type Layout struct {
	Format settings.Format // FormatAuto goes by the name of the output
	Kind   Kind
	Per    settings.Unit
	Quote  bool // cells of TSV stand in quotes where they need it
	// Delimiter stands between the cells of CSV; "" is a comma.
	Delimiter string
	// Encoding is the name of a character encoding as of an input; "" is UTF-8.
	Encoding string
	// Asked are columns of rows for which somebody asked, or could have: "masked" with the text that
	// has blanks, "energies" and "marginals".
	Asked []string
	// Originals says that each text stands before its variants.
	Originals bool

	inPlace bool // the output is the input with other texts in their places, see Of
	packed  bool // the name says that it is compressed
}

// Found is the layout with the format that the name of an output says. The error wraps [ErrLayout].
func (l Layout) Found(path string) (Layout, error) {
	if l.Format == settings.FormatAuto {
		if ext := foreign(path); ext != "" {
			return l, fmt.Errorf("%w: %s: tables are written as .csv, .tsv and .parquet, records as "+
				".jsonl and .json, and nothing as %s; name it so, or choose a format", ErrLayout, path, ext)
		}
		l.Format = settings.FormatOf(path)
	}
	ext := suffixOf(path)
	l.packed = packed(path)
	_, err := input.Encoding("output-encoding", l.Encoding)
	switch {
	case err != nil:
		return l, err
	case l.Encoding != "" && l.Format == settings.FormatParquet:
		return l, fmt.Errorf("%w: Parquet is in UTF-8, and not in %s", ErrLayout, l.Encoding)
	case slices.Contains(otherPacked, ext):
		return l, fmt.Errorf("%w: %s: outputs are compressed as .gz and .zst, and not as %s; name it "+
			"so, or without %[3]s, and compress it afterwards", ErrLayout, path, ext)
	case (l.form() == asLines || l.Format == settings.FormatCoNLL) && l.scores():
		return l, fmt.Errorf("%w: %s: lines of text hold fillings, not scores; name it .jsonl or .csv",
			ErrLayout, path)
	case l.Format == settings.FormatAuto:
		l.Format = settings.FormatJSONL
	case l.Format == settings.FormatParquet && l.packed:
		return l, fmt.Errorf("%w: Parquet is read from any place in it; name it without %s",
			ErrLayout, ext)
	}
	return l, nil
}

// otherOutputs are suffixes of what no output holds, but for foreignTables. Records in such a file
// would not be what its name says.
var otherOutputs = []string{
	".db", ".docx", ".dta", ".h5", ".hdf5", ".htm", ".html", ".md", ".npy", ".npz", ".pdf", ".pickle",
	".pkl", ".rds", ".sav", ".toml", ".xml", ".yaml", ".yml",
}

// foreign is the suffix of a name that says something else than what outputs hold, "" for none.
func foreign(path string) string {
	ext := suffixOf(path)
	if packed(path) {
		ext = suffixOf(path[:len(path)-len(ext)])
	}
	if slices.Contains(otherOutputs, ext) || input.Foreign(ext) != nil {
		return ext
	}
	return ""
}

// otherPacked are suffixes of compressed files and archives that no output can be. Without them
// such a name would get data that are not compressed.
var otherPacked = []string{
	".7z", ".br", ".bz", ".bz2", ".gzip", ".lz", ".lz4", ".lzma", ".lzo", ".rar", ".snappy", ".sz",
	".tar", ".tgz", ".xz", ".z", ".zip", ".zstd",
}

// suffixOf is the last suffix of a name, in small letters.
func suffixOf(path string) string { return strings.ToLower(filepath.Ext(path)) }

// A form is what an output has of each record.
type form int

const (
	asRecords form = iota // itself, on a line
	asArray               // itself, in an array
	asLines               // its texts, or its part of the input with other texts
	asRows
)

func (l Layout) form() form {
	switch {
	case l.Format == settings.FormatText || l.inPlace:
		return asLines
	case l.Format.Table() || l.Per != settings.PerSentence || l.Kind == Variants:
		return asRows
	case l.Format == settings.FormatJSON:
		return asArray
	}
	return asRecords
}

// Whole reports whether the output is made when all records are there. The records themselves are
// otherwise the output.
func (l Layout) Whole() bool {
	return l.packed || l.form() != asRecords || l.Encoding != ""
}

// best reports whether of the fillings of a record the best one alone is written.
func (l Layout) best() bool {
	return l.scores() || l.Per == settings.PerSentence && l.Kind != Variants
}

// scores reports whether records have scores, not fillings.
func (l Layout) scores() bool { return l.Kind == Scores || l.Kind == Pairs }

// Of is the layout for an input, as [Layout.Found] finds it. An input whose texts lie in columns or
// deep in JSON is written again with other texts in their places, unless somebody says another
// format. The error wraps [ErrLayout] for columns of an input that has none.
func (l Layout) Of(in *input.Reader, path string) (Layout, error) {
	auto := l.Format == settings.FormatAuto
	l, err := l.Found(path)
	is, named := in.Format(), settings.FormatOf(path)
	switch {
	case err != nil:
	case l.Format == settings.FormatCoNLL && is != l.Format:
		err = fmt.Errorf("%w: the format %v is written for an input of that format only", ErrLayout,
			l.Format)
	case l.Format == settings.FormatCoNLL:
		l.inPlace = true
	case auto && in.InPlace():
		l.inPlace = named == settings.FormatAuto || named == settings.FormatText || named == is ||
			named == settings.FormatOf(in.Name)
	}
	return l, err
}

// comma stands between cells that may have quotes, 0 for the usual.
func (l Layout) comma() rune {
	switch {
	case l.Format == settings.FormatTSV && l.Quote:
		return '\t'
	case l.Format == settings.FormatCSV && l.Delimiter != "":
		return rune(l.Delimiter[0])
	}
	return 0
}

// Free finds what [Manifest.Open] with Create refuses because of an earlier run, before a model is
// opened for it: an output, or records that wait for its end. The error is an [*ExistsError].
func (l Layout) Free(path string) error {
	l, err := l.Found(path)
	if err != nil {
		return err
	}
	stands, err := standingAt(path, &input.Reader{}, Create)
	if err != nil || stands == device {
		return err
	}
	if part := partPath(path); l.Whole() {
		if info, err := os.Lstat(part); err == nil && info.Mode().IsRegular() {
			return &ExistsError{Path: part}
		}
	}
	return nil
}

func isLink(path string) bool {
	info, err := os.Lstat(path)
	return err == nil && info.Mode()&fs.ModeSymlink != 0
}

// partPath is where the records of an output that has rows wait for the last of them.
func partPath(output string) string { return output + ".part" }
