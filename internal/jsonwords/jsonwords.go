// Package jsonwords says what is wrong with JSON that a person wrote, without the names of Go
// types.
package jsonwords

import (
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"reflect"
)

// Error is an error of encoding/json in words. Other errors are returned as they are.
func Error(err error) error {
	var kind *json.UnmarshalTypeError
	var syntax *json.SyntaxError
	switch {
	case errors.As(err, &kind):
		if kind.Field == "" {
			return fmt.Errorf("it is %s, want %s", article(kind.Value), Want(kind.Type))
		}
		return fmt.Errorf("%q is %s, want %s", kind.Field, article(kind.Value), Want(kind.Type))
	case errors.Is(err, io.ErrUnexpectedEOF), errors.As(err, &syntax) && syntax.Offset == 0,
		err != nil && err.Error() == "unexpected end of JSON input":
		return errors.New("it ends too early")
	case errors.As(err, &syntax):
		return fmt.Errorf("it is not JSON from byte %d on", syntax.Offset)
	}
	return err
}

// article is a JSON value, as encoding/json names it, with its article.
func article(value string) string {
	switch value {
	case "array", "object":
		return "an " + value
	case "bool":
		return "true or false"
	case "string":
		return "a text"
	}
	if len(value) > 6 && value[:6] == "number" {
		return "the " + value // number 1.5
	}
	return "a " + value
}

// Want is the JSON value that a Go type takes.
func Want(t reflect.Type) string {
	switch t.Kind() {
	case reflect.Bool:
		return "true or false"
	case reflect.String:
		return "a text"
	case reflect.Slice, reflect.Array:
		return "a list"
	case reflect.Float32, reflect.Float64:
		return "a number"
	case reflect.Int8, reflect.Int16, reflect.Int32:
		return fmt.Sprintf("a whole number of %d bits", t.Bits())
	case reflect.Int, reflect.Int64:
		return "a whole number"
	case reflect.Uint, reflect.Uint8, reflect.Uint16, reflect.Uint32, reflect.Uint64:
		return "a whole number from 0"
	}
	return "an object"
}
