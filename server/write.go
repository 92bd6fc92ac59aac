package server

import (
	"bytes"
	"net/http"

	"infill/infill/jsonl"
)

// writeRecord answers with a record.
func writeRecord(w http.ResponseWriter, rec jsonl.Record) error {
	b, err := jsonl.Append(nil, rec)
	if err != nil {
		return err
	}
	return writeJSON(w, http.StatusOK, append(b, '\n'))
}

// writeValue answers with any value as JSON.
func writeValue(w http.ResponseWriter, v any) error {
	b, err := encode(v)
	if err != nil {
		return err
	}
	return writeJSON(w, http.StatusOK, b)
}

// writeJSON answers with JSON. A client that does not take it is gone.
func writeJSON(w http.ResponseWriter, status int, b []byte) error {
	w.Header().Set("Content-Type", "application/json")
	w.WriteHeader(status)
	if _, err := w.Write(b); err != nil {
		return errGone
	}
	return nil
}

// encode is a line of JSON.
func encode(v any) ([]byte, error) {
	var b bytes.Buffer
	err := jsonl.Encode(&b, v)
	return b.Bytes(), err
}
