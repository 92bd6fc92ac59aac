package tokenize

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"reflect"
	"strings"
	"unicode/utf8"

	"infill/internal/disk"
)

// maxFileBytes bounds every file that is read. The largest tokenizer.json in
// use are about 20 MB.
const maxFileBytes = 64 << 20

// readFile returns the contents of a UTF-8 file; missing is true if there is no such file.
func readFile(fsys fs.FS, name string) (data []byte, missing bool, err error) {
	data, err = disk.ReadFS(fsys, name, maxFileBytes)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return nil, true, nil
	case errors.Is(err, disk.ErrTooLarge):
		err = problem(ErrTooLarge, "more than %d MiB", maxFileBytes>>20)
	}
	if err != nil {
		return nil, false, &FileError{File: name, Err: err}
	}
	return data, false, checkText(name, data)
}

// checkText checks size and encoding.
func checkText(name string, data []byte) error {
	if len(data) > maxFileBytes {
		return &FileError{File: name, Err: problem(ErrTooLarge, "more than %d MiB", maxFileBytes>>20)}
	}
	if !utf8.Valid(data) {
		at := invalidAt(string(data))
		return &FileError{File: name, Line: lineAt(data, at),
			Err: fmt.Errorf("%w at byte %d", ErrInvalidUTF8, at)}
	}
	return nil
}

// lineAt is the line, from 1, of a byte offset.
func lineAt(data []byte, offset int) int {
	return 1 + bytes.Count(data[:min(max(offset, 0), len(data))], []byte{'\n'})
}

// parseVocab reads a vocab.txt, which is UTF-8: one piece a line, the id being the
// number of the line from 0. Line ends are \n or \r\n. A byte order mark and empty
// lines at the end do not count. An empty line between pieces is an id without a
// piece. name is used in errors, which are of type [*FileError].
func parseVocab(data []byte, name string) ([]string, error) {
	text := strings.TrimPrefix(string(data), "\ufeff")
	text = strings.TrimRight(text, "\r\n")
	fail := func(line int, kind error, format string, args ...any) ([]string, error) {
		return nil, &FileError{File: name, Line: line, Err: problem(kind, format, args...)}
	}
	if text == "" {
		return fail(0, ErrFormat, "the vocabulary is empty; want one piece a line")
	}
	if n := 1 + strings.Count(text, "\n"); n > maxVocabulary {
		return fail(0, ErrTooLarge, "%d lines, at most %d are accepted", n, maxVocabulary)
	}
	pieces := strings.Split(text, "\n")
	for i, p := range pieces {
		p = strings.TrimSuffix(p, "\r")
		if len(p) > maxPieceBytes {
			return fail(i+1, ErrTooLarge, "a piece of %d bytes, at most %d are accepted; want one piece a "+
				"line", len(p), maxPieceBytes)
		}
		if strings.IndexByte(p, 0) >= 0 {
			return fail(i+1, ErrFormat, "a NUL byte; this is not a text file")
		}
		pieces[i] = p
	}
	return pieces, nil
}

// decodeJSON decodes data, found at a path of a file, into v. whole is the file's
// content, for the place of an error in it.
func decodeJSON(name, path string, whole, data []byte, v any) error {
	err := json.Unmarshal(data, v)
	if err == nil {
		return nil
	}
	e := &FileError{File: name, Path: path}
	start := max(bytes.Index(whole, data), 0)
	var syntax *json.SyntaxError
	var typ *json.UnmarshalTypeError
	switch {
	case errors.As(err, &syntax):
		at := start + int(syntax.Offset) - 1
		e.Line = lineAt(whole, at)
		e.Err = problem(ErrFormat, "byte %d: not JSON: %v", max(at, 0), err)
	case errors.As(err, &typ):
		at := start + int(typ.Offset) - 1
		e.Line = lineAt(whole, at)
		e.Path = joinPath(path, typ.Field)
		e.Err = problem(ErrFormat, "byte %d: want a JSON %s, found %s", max(at, 0), jsonName(typ.Type),
			typ.Value)
	default:
		e.Err = problem(ErrFormat, "%v", err)
	}
	return e
}

// jsonName is what a Go type is called in JSON.
func jsonName(t reflect.Type) string {
	switch t.Kind() {
	case reflect.Map, reflect.Struct:
		return "object"
	case reflect.Slice, reflect.Array:
		return "array"
	case reflect.Bool:
		return "true or false"
	case reflect.String:
		return "string"
	}
	return "number"
}

func joinPath(path, field string) string {
	if path == "" || field == "" {
		return path + field
	}
	return path + "." + field
}
