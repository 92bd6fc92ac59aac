package settings

import (
	"encoding/json"
	"fmt"
	"math"
	"path/filepath"
	"reflect"
	"slices"
	"strconv"
	"strings"

	"infill/internal/nearest"
)

// Input is how a file of texts is read.
type Input struct {
	Format Format
	// TextField is the field or the column that has the text; "" is "text". Lines of text have none.
	TextField string
	// Longest is how many bytes a line or an element may have; 0 is 2^20.
	Longest int
	// Records is the path to the list of records in a file that is one object; "" for the only list
	// of objects.
	Records string
	// OnNull is "error" where a text that is null or empty is an error of its record. Otherwise it is
	// left.
	OnNull string
	// Lists says that the text of a JSON line may be a list of its words.
	Lists bool
	// Sentence are the columns, or fields, with commas between, that say which sentence a word is of.
	// Each record of the file is then a word, and those that follow each other with the same values
	// are one text. It is "" for files of texts.
	Sentence string
	// Delimiter stands between the cells of CSV; "" is a comma.
	Delimiter string
	// NoHeader says that the first row of CSV or TSV is data. Columns are called by their numbers,
	// from 1.
	NoHeader bool
	// Quote says that cells of TSV may stand in quotes, as those of CSV.
	Quote bool
	// Encoding is the name of a character encoding in the WHATWG's standard, such as windows-1252;
	// "" is UTF-8. Parquet has none.
	Encoding string
	// Limit is the number of records that are read; 0 is all, and a number below 0 an error.
	Limit int
	// Shard is the part of the file that is read; the zero value is all of it. A line
	// belongs to the shard that its first byte lies in. Tables and compressed files are
	// cut by the number of their records. A stream cannot be cut.
	Shard Shard
}

// File is how a file of texts is read, and how its records are written.
type File struct {
	Input
	OutputFormat   Format
	OutputEncoding string // as Encoding
	Per            Unit   // what a record of the output is made for
}

// FileDefaults are the values of settings that nobody chose.
func FileDefaults() *File {
	return &File{Input: Input{TextField: "text", Delimiter: ",", OnNull: "skip"}}
}

// Format is the form of records in a file.
type Format int

const (
	// FormatAuto goes by the name of a file, see [FormatOf]. Of an input with
	// another name the first bytes decide, an output is JSON lines.
	FormatAuto    Format = iota
	FormatText           // lines of text, for inputs only
	FormatJSONL          // one JSON object a line
	FormatJSON           // an array of JSON, of such objects or of texts
	FormatCoNLL          // a token and its tag a line, in columns
	FormatCSV            // comma-separated values with a header
	FormatTSV            // tab-separated values with a header
	FormatParquet        // Apache Parquet
)

var formatNames = []string{"auto", "text", "jsonl", "json", "conll", "csv", "tsv", "parquet"}

// String is the name of the format, as users write it.
func (f Format) String() string { return nearest.Of(formatNames, "format", f) }

// Known reports whether there is such a format.
func (f Format) Known() bool { return f >= 0 && int(f) < len(formatNames) }

// Table reports whether records of the format are rows with columns.
func (f Format) Table() bool { return f >= FormatCSV }

// JSON reports whether records of the format are objects, which have fields of their own.
func (f Format) JSON() bool { return f == FormatJSONL || f == FormatJSON }

// uncompressed is the name of a file without the suffix of a compression, in any case.
func uncompressed(path string) string {
	for _, suffix := range []string{".gz", ".zst"} {
		if n := len(path) - len(suffix); n >= 0 && strings.EqualFold(path[n:], suffix) {
			path = path[:n]
		}
	}
	return path
}

// FormatOf is the format that the name of a file says, FormatAuto for none. The
// suffixes .gz and .zst are passed over.
func FormatOf(path string) Format {
	return suffixes[strings.ToLower(filepath.Ext(uncompressed(path)))]
}

// suffixes of names that say a format.
var suffixes = map[string]Format{".jsonl": FormatJSONL, ".ndjson": FormatJSONL, ".json": FormatJSON,
	".txt": FormatText, ".conll": FormatCoNLL, ".bio": FormatCoNLL, ".iob": FormatCoNLL,
	".iob2": FormatCoNLL, ".csv": FormatCSV, ".tsv": FormatTSV, ".tab": FormatTSV,
	".parquet": FormatParquet, ".pq": FormatParquet}

// Unit is what a record of an output is made for.
type Unit int

const (
	PerSentence Unit = iota // a record has all fillings of a sentence
	PerFilling              // a record has one filling
	PerWord                 // a record has one word of a text that was scored
)

// FileTable lists the settings of a [File] in the order of help and documents.
func FileTable() Table[File] { return slices.Clone(fileTable) }

// The manifest has the formats that were found, and the limit and the shard in places of their own.
var fileTable = Table[File]{
	{
		Name: "format", Group: results,
		Doc: "of the input, one of text|jsonl|json|csv|tsv|parquet|conll; " +
			"auto: by its name, or first bytes",
		bind: func(v *File) *Value { return choiceValue(&v.Format, formatNames...) },
	},
	{
		Name: "output-format", Group: results,
		Doc: "of the output, one of jsonl|json|csv|tsv|parquet; auto: by its name, else jsonl; conll " +
			"for an input of that format",
		bind: func(v *File) *Value {
			names := slices.Delete(slices.Clone(formatNames), int(FormatText), int(FormatText)+1)
			get := func() string { return v.OutputFormat.String() }
			return choice(names, get, func(i int) {
				v.OutputFormat = Format(slices.Index(formatNames, names[i]))
			})
		},
	},
	{
		Name: "text-field", Arg: "NAME", record: true, Group: results,
		Doc: "the column of a table that has the text, or the field of JSON, as review.text, " +
			"messages[].content, messages[role=user].content",
		bind: func(v *File) *Value { return nameValue(&v.TextField, "the name of a field") },
	},
	{
		Name: "records", Arg: "PATH", record: true, Group: results,
		Doc: "the list of records in a file that is one JSON object, as data in {\"data\": [...]}; " +
			"by itself the only list of objects",
		bind: func(v *File) *Value { return textValue(&v.Records) },
	},
	{
		Name: "encoding", Arg: "NAME", record: true, Group: results,
		Doc:  "of the input, if not UTF-8: windows-1252, utf-16le, shift_jis and others",
		bind: func(v *File) *Value { return textValue(&v.Encoding) },
	},
	{
		Name: "output-encoding", Arg: "NAME", record: true, Group: results,
		Doc:  "of the output, if not UTF-8; what it lacks becomes \\u2192, as JSON has it",
		bind: func(v *File) *Value { return textValue(&v.OutputEncoding) },
	},
	{
		Name: "on-null", record: true, Group: results,
		Doc:  "what a text that is null or empty does: skip, it stays as it is, or error",
		bind: func(v *File) *Value { return WordValue(&v.OnNull, "skip", "error") },
	},
	{
		Name: "sentence", Arg: "NAMES", record: true, Group: results, not: "augment batch",
		Doc: "each record is a word, and those with the same values in these columns, with commas " +
			"between, one after the other, are a sentence",
		bind: func(v *File) *Value { return textValue(&v.Sentence) },
	},
	{
		Name: "delimiter", record: true, Group: results,
		Doc:  "what stands between the cells of .csv, in and out: , or ; as in European Excel, or |",
		bind: func(v *File) *Value { return WordValue(&v.Delimiter, ",", ";", "|") },
	},
	{
		Name: "no-header", record: true, Group: results,
		Doc:  "the first row of .csv or .tsv is data and has no names, which are then 1, 2, 3",
		bind: func(v *File) *Value { return boolValue(&v.NoHeader) },
	},
	{
		Name: "quote", record: true, Group: results,
		Doc:  "cells of .tsv stand in quotes where they need it, as those of .csv do",
		bind: func(v *File) *Value { return boolValue(&v.Quote) },
	},
	{
		Name: "limit", Group: results, Doc: "read only this many records of the input; 0: all",
		bind: func(v *File) *Value { return WholeValue(&v.Limit, 0, math.MaxInt32) },
	},
	{
		Name: "shard", Arg: "I/N", Group: results, not: "augment",
		Doc: "work on shard `I/N` of the input, from 0/N to N-1/N, whose outputs one after the other " +
			"equal the output of the whole", bind: func(v *File) *Value { return shardValue(&v.Shard) },
	},
	{
		Name: "per", record: true, Group: results, not: "augment",
		Doc:  "one record of the output per sentence, or one per filling (of scores, per word)",
		bind: func(v *File) *Value { return choiceValue(&v.Per, "sentence", "filling", "word") },
	},
}

// A Shard is one of several parts of a file that separate processes work on. The zero value is the
// whole file.
type Shard struct {
	Index int `json:"index"` // from 0 to Of-1
	Of    int `json:"of"`    // the number of shards, 0 for the whole file
}

// maxShards bounds Shard.Of.
const maxShards = 1_000_000

// Whole reports whether the shard is the whole file, uncut.
func (s Shard) Whole() bool { return s == Shard{} }

// String is the shard as parseShard reads it: 3/8, and "" for the whole file.
func (s Shard) String() string {
	if s.Whole() {
		return ""
	}
	return fmt.Sprintf("%d/%d", s.Index, s.Of)
}

// Check refuses a shard that is not one of a file. The error wraps [ErrSetting].
func (s Shard) Check() error {
	_, err := parseShard(s.String())
	return err
}

// parseShard reads I/N, shard I of N counted from 0. An empty text is the whole file. The error
// wraps [ErrSetting].
func parseShard(text string) (Shard, error) {
	if text == "" {
		return Shard{}, nil
	}
	index, of, cut := strings.Cut(text, "/")
	i, err := strconv.ParseUint(index, 10, 31)
	n, err2 := strconv.ParseUint(of, 10, 31)
	if !cut || err != nil || err2 != nil || n < 1 || n > maxShards || i >= n {
		return Shard{}, &Error{Name: "shard", Given: text, Want: wantShard}
	}
	return Shard{int(i), int(n)}, nil
}

// wantShard says the first and the last one, since others count from 1.
const wantShard = "I/N, shard I of N counted from 0: of eight, 0/8 is the first and 7/8 the last"

// shardValue is access to a shard.
func shardValue(p *Shard) *Value {
	set := func(text string) (err error) {
		s, err := parseShard(text)
		if err == nil {
			*p = s
		}
		return err
	}
	return &Value{
		Kind: reflect.String, want: wantShard, get: func() string { return p.String() }, set: set,
		setJSON: fromJSON(set),
	}
}

// UnmarshalJSON reads what a manifest has of a shard. It is one that parseShard could have
// returned.
func (s *Shard) UnmarshalJSON(b []byte) error {
	var is struct{ Index, Of int }
	if err := json.Unmarshal(b, &is); err != nil {
		return err
	}
	shard, err := parseShard(Shard(is).String())
	*s = shard
	return err
}
