package report

import (
	"bufio"
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"strings"

	"infill/metrics/corpus"
)

// maxTask bounds a task file, which is read whole because it is one JSON value.
const maxTask = 64 << 20

// task is a sentence of the DISCS text-infilling task or a JSON line of our own.
type task struct {
	ID        any     `json:"id"`
	Text      *string `json:"text"`
	Gold      string  `json:"gold"`
	Sentence  *string `json:"sentence"`
	GT        string  `json:"gt_sentence"`
	Positions *[]int  `json:"infill_pos"`
}

// ReadSources reads the sentences to infill: one text per line, JSON lines with
// text and, if known, gold and id, or the DISCS task format, a JSON array of
// objects with sentence, gt_sentence and infill_pos. In the last the number of
// blanks must agree with infill_pos. Blank lines are skipped.
func ReadSources(r io.Reader, name string) ([]Source, error) {
	br := bufio.NewReader(r)
	head, _ := br.Peek(512)
	var out []Source
	s := bytes.TrimLeft(bytes.TrimPrefix(head, []byte("\xef\xbb\xbf")), " \t\r\n")
	if len(s) > 0 && s[0] == '[' {
		rest := bytes.TrimLeft(s[1:], " \t\r\n")
		if len(rest) > 0 && rest[0] == '{' {
			return readTask(br, name)
		}
	}
	err := corpus.Lines(br, name, func(n int, line string) error {
		if strings.TrimSpace(line) == "" {
			return nil
		}
		if !strings.HasPrefix(strings.TrimSpace(line), "{") || !json.Valid([]byte(line)) {
			out = append(out, Source{ID: fmt.Sprint(n), Text: line})
			return nil
		}
		var t task
		if err := json.Unmarshal([]byte(line), &t); err != nil {
			return fmt.Errorf("%s:%d: %w: %v", name, n, ErrFormat, err)
		}
		s, err := t.source(n)
		if err != nil {
			return fmt.Errorf("%s:%d: %w", name, n, err)
		}
		out = append(out, s)
		return nil
	})
	if err != nil {
		return nil, err
	}
	if len(out) == 0 {
		return nil, fmt.Errorf("%s: %w", name, ErrNoSentences)
	}
	return out, nil
}

func readTask(r io.Reader, name string) ([]Source, error) {
	data, err := io.ReadAll(io.LimitReader(r, maxTask+1))
	if err != nil {
		return nil, fmt.Errorf("%s: %w", name, err)
	}
	if len(data) > maxTask {
		return nil, fmt.Errorf("%s: %w: a JSON array over %d bytes; use JSON lines",
			name, ErrFormat, maxTask)
	}
	var tasks []task
	if err := json.Unmarshal(bytes.TrimPrefix(data, []byte("\xef\xbb\xbf")), &tasks); err != nil {
		return nil, fmt.Errorf("%s: %w: %v; want the DISCS task format", name, ErrFormat, err)
	}
	out := make([]Source, 0, len(tasks))
	for i, t := range tasks {
		s, err := t.source(i + 1)
		if err != nil {
			return nil, fmt.Errorf("%s: sentence %d: %w", name, i+1, err)
		}
		out = append(out, s)
	}
	return out, nil
}

// source checks a task and turns it into a Source; n numbers it where it has no id.
func (t task) source(n int) (Source, error) {
	s := Source{ID: fmt.Sprint(n), Gold: t.Gold}
	switch id := t.ID.(type) {
	case nil:
	case string:
		s.ID = id
	case float64:
		s.ID = strings.TrimSuffix(fmt.Sprintf("%f", id), ".000000")
	default:
		return s, fmt.Errorf("%w: id is neither text nor a number", ErrFormat)
	}
	switch {
	case t.Text != nil:
		s.Text = *t.Text
	case t.Sentence != nil:
		s.Text = *t.Sentence
	default:
		return s, fmt.Errorf("%w: a JSON object without text or sentence", ErrFormat)
	}
	if t.GT != "" {
		s.Gold = t.GT
	}
	if t.Positions != nil {
		if blanks := strings.Count(s.Text, "[MASK]"); blanks != len(*t.Positions) {
			return s, fmt.Errorf("%w: %d blanks in the sentence, %d in infill_pos",
				ErrFormat, blanks, len(*t.Positions))
		}
	}
	if strings.TrimSpace(s.Text) == "" {
		return s, fmt.Errorf("%w: the text is empty", ErrFormat)
	}
	return s, nil
}
