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

// A Layout says what the records of an output look like.
type Layout struct {
	Format settings.Format // FormatAuto goes by the name of the output
	Auto   bool            // nobody said the format
	Per    settings.Unit
	Quote  bool // cells of TSV stand in quotes where they need it
	// Delimiter stands between the cells of CSV; "" is a comma.
	Delimiter string
	Scores    bool // records have scores, not fillings
	Pairs     bool // each text is compared with another one
	// Masked says that words of complete texts are blanked out. Rows then have the
	// text with blanks, and the words.
	Masked bool
	// Energies and Marginals say that rows have the parts of scores, and probabilities of words: where
	// somebody asked for them, or could have.
	Energies, Marginals bool
	// InPlace says that the output is the input with other texts in their places, see [Layout.Of].
	InPlace bool
	// Originals says that each text stands before its variants, with settings.PerVariant.
	Originals bool

	packed bool // the name says that it is compressed
}

// Found is the layout with the format that the name of an output says. The error wraps
// [ErrLayout].
func (l Layout) Found(path string) (Layout, error) {
	if l.Auto = l.Auto || l.Format == settings.FormatAuto; l.Format == settings.FormatAuto {
		if ext := foreign(path); ext != "" {
			return l, fmt.Errorf("%w: %s: tables are written as .csv, .tsv and .parquet, records as "+
				".jsonl and .json, and nothing as %s; name it so, or choose a format", ErrLayout, path, ext)
		}
		l.Format = settings.FormatOf(path)
	}
	ext := suffixOf(path)
	l.packed = packed(path)
	switch {
	case slices.Contains(otherPacked, ext):
		return l, fmt.Errorf("%w: %s: outputs are compressed as .gz and .zst, and not as %s; name it "+
			"so, or without %[3]s, and compress it afterwards", ErrLayout, path, ext)
	case (l.lines() || l.Format == settings.FormatCoNLL) && l.Scores:
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

// Rows reports whether the output has rows, made of the records.
func (l Layout) Rows() bool {
	return l.Format.Table() || l.Per != settings.PerSentence && !l.lines()
}

// Whole reports whether the output is made when all records are there: of rows, as lines of text,
// as an array of records, or compressed. The records themselves are otherwise the output.
func (l Layout) Whole() bool { return l.packed || !l.ofRecords() }

// ofRecords reports whether the output has the records themselves, one a line.
func (l Layout) ofRecords() bool {
	return !l.Rows() && l.Format != settings.FormatJSON && !l.lines()
}

// lines reports whether the output has the texts themselves, or the input around them.
func (l Layout) lines() bool { return l.Format == settings.FormatText || l.InPlace }

// Of is the layout for an input. One whose texts lie in columns or deep in JSON is written again
// with other texts in their places, unless somebody says another format. The error wraps
// [ErrLayout] for columns of an input that has none.
func (l Layout) Of(in *input.Reader, path string) (Layout, error) {
	is, named, o := in.Format(), settings.FormatOf(path), in.Options()
	switch {
	case l.Format == settings.FormatCoNLL && is != l.Format:
		return l, fmt.Errorf("%w: the format %v is written for an input of that format only", ErrLayout,
			l.Format)
	case l.Format == settings.FormatCoNLL:
		l.InPlace = true
	case o.InPlace() && l.Auto && !l.Scores:
		l.InPlace = named == settings.FormatAuto || named == settings.FormatText || named == is ||
			named == settings.FormatOf(in.Name)
	}
	return l, nil
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
	switch info, err := os.Stat(path); {
	case err != nil && isLink(path):
		return &ExistsError{Path: path, Link: true}
	case err == nil && info.Mode().IsRegular():
		return &ExistsError{Path: path}
	case err == nil:
		return nil // a folder cannot be one, and a pipe has nothing of an earlier run
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
