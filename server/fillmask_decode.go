package server

import (
	"encoding/json"
	"slices"

	"infill/infill"
	"infill/infill/jsonl"
	"infill/infill/settings"
	"infill/server/api"
)

// A maskRequest is what clients of Hugging Face's fill-mask task send.
type maskRequest struct {
	texts []string
	model string // its name, "" for the default
	topK  int
	// targets are the only words that count, nil for all.
	targets []string
	joint   bool
	fields  []jsonl.Field // further parameters, which are settings
}

// decodeMask reads a body of that task.
func decodeMask(body []byte) (*maskRequest, error) {
	fields, err := jsonl.Decoder{Bytes: maxBody, Depth: 64}.Object(1, body)
	if err != nil {
		return nil, err
	}
	q := &maskRequest{topK: api.DefaultTopK}
	for _, f := range fields {
		switch f.Name {
		case "inputs":
			err = q.inputs(f)
		case "parameters":
			err = q.parameters(f)
		case "model":
			err = member(f, &q.model, "the name of a model")
		case "options": // which other servers of that task know
		default:
			err = fail("bad_json", "%q is not a field of this request", f.Name)
		}
		if err != nil {
			return nil, err
		}
	}
	switch {
	case q.texts == nil:
		return nil, fail("bad_json", "no field %q", "inputs")
	case len(q.texts) > api.MaxTexts:
		return nil, fail(codeTooManyTexts, `"inputs" has %d texts, at most %d`, len(q.texts),
			api.MaxTexts)
	case !q.joint && len(q.fields) > 0:
		return nil, fail("bad_option", `parameter %q goes with "joint": true`, q.fields[0].Name)
	}
	return q, nil
}

// inputs reads a text or a list of texts.
func (q *maskRequest) inputs(f jsonl.Field) error {
	var one string
	if json.Unmarshal(f.Value, &one) == nil && string(f.Value) != "null" {
		q.texts = []string{one}
		return nil
	}
	var many []*string
	if json.Unmarshal(f.Value, &many) != nil || len(many) == 0 || slices.Contains(many, nil) {
		return fail("bad_json", `"inputs" is %s, want a text or a list of texts`, short(f.Value))
	}
	for _, text := range many {
		q.texts = append(q.texts, *text)
	}
	return nil
}

// parameters reads the object of parameters.
func (q *maskRequest) parameters(f jsonl.Field) error {
	if string(f.Value) == "null" {
		return nil
	}
	fields, err := jsonl.Decoder{}.Object(1, f.Value)
	if err != nil {
		return fail("bad_json", `"parameters": %s`, asFailure(err).message)
	}
	for _, p := range fields {
		if string(p.Value) == "null" {
			continue
		}
		switch p.Name {
		case "top_k":
			if json.Unmarshal(p.Value, &q.topK) != nil || q.topK < 1 || q.topK > infill.Ranges.Top.Max {
				err = fail("bad_option", `"top_k" is %s, want a whole number from 1 to %d`, short(p.Value),
					infill.Ranges.Top.Max)
			}
		case "targets":
			var one string
			if json.Unmarshal(p.Value, &one) == nil {
				q.targets = []string{one}
			} else {
				err = member(p, &q.targets, "a word or a list of words")
			}
			if err == nil && len(q.targets) == 0 {
				err = fail("bad_option", `"targets" is empty, want a word or a list of words`)
			}
		case "joint":
			err = member(p, &q.joint, "true or false")
		default:
			if !settings.FillTable().Has(p.Name) || p.Name == "allow" || p.Name == "top" {
				err = fail("bad_option", "%q is not a parameter of this request", p.Name)
			}
			q.fields = append(q.fields, p)
		}
		if err != nil {
			return err
		}
	}
	return nil
}
