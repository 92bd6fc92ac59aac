package tokenize

import (
	"cmp"
	"encoding/json"
	"io/fs"
	"maps"
	"slices"
	"strconv"
)

const (
	configFile  = "tokenizer_config.json"
	specialFile = "special_tokens_map.json"
	addedFile   = "added_tokens.json"
)

// config is what the files around a vocabulary say. nil and "" mean that they
// are silent.
type config struct {
	lower, strip, chinese *bool
	prefix                *bool // a space goes before the text
	typography            Typography
	maskStrips            bool // a mask token without flags swallows the space before it
	names                 [numRoles]jsonToken
	instead               [numRoles]string // tokens that serve where there is no other
	further               []jsonToken      // additional special tokens
	added                 []addedToken
	length                int
}

// jsonToken is a token in these files: a string, or an object with flags.
type jsonToken struct {
	ID         *int64 `json:"id"`
	Content    string `json:"content"`
	Special    bool   `json:"special"`
	Normalized *bool  `json:"normalized"`
	SingleWord bool   `json:"single_word"`
	LeftStrip  bool   `json:"lstrip"`
	RightStrip bool   `json:"rstrip"`
	plain      bool   // only the spelling was given
}

func (t *jsonToken) UnmarshalJSON(data []byte) error {
	if len(data) > 0 && data[0] == '"' {
		*t = jsonToken{plain: true}
		return json.Unmarshal(data, &t.Content)
	}
	type fields jsonToken
	return json.Unmarshal(data, (*fields)(t))
}

// added returns the token with its flags; ordinary tokens match the normalised
// text unless the file says otherwise.
func (t jsonToken) added(id int32) addedToken {
	a := addedToken{
		ID: id, Content: t.Content, Special: t.Special, Normalized: !t.Special,
		SingleWord: t.SingleWord, LeftStrip: t.LeftStrip, RightStrip: t.RightStrip,
	}
	if t.Normalized != nil {
		a.Normalized = *t.Normalized
	}
	return a
}

// special returns the token with its flags, as a special token: one that
// matches the original text unless the file says otherwise.
func (t jsonToken) special(id int32) addedToken {
	t.Special = true
	return t.added(id)
}

// readConfig reads tokenizer_config.json and the older files beside it. Each of
// them may be missing. What tokenizer_config.json says counts first.
func readConfig(fsys fs.FS) (*config, error) {
	c := new(config)
	for _, name := range []string{configFile, specialFile, addedFile} {
		data, missing, err := readFile(fsys, name)
		if err != nil {
			return nil, err
		}
		if missing {
			continue
		}
		if name == addedFile {
			err = c.readAdded(data)
		} else {
			err = c.read(name, data)
		}
		if err != nil {
			return nil, err
		}
	}
	return c, nil
}

// read takes over what tokenizer_config.json or special_tokens_map.json says.
func (c *config) read(name string, data []byte) error {
	var fields map[string]json.RawMessage
	if err := decodeJSON(name, "", data, data, &fields); err != nil {
		return err
	}
	get := func(key string, v any) error {
		raw, ok := fields[key]
		if !ok || absent(raw) {
			return nil
		}
		return decodeJSON(name, key, data, raw, v)
	}
	if name == configFile {
		var length float64
		for key, v := range map[string]any{
			"do_lower_case": &c.lower, "strip_accents": &c.strip,
			"tokenize_chinese_chars": &c.chinese, "model_max_length": &length,
			"add_prefix_space": &c.prefix, "typography": &c.typography,
		} {
			if err := get(key, v); err != nil {
				return err
			}
		}
		// Where no limit is known transformers writes 1e30.
		if length >= 1 && length < 1<<30 {
			c.length = int(length)
		}
		if err := c.readDecoder(data, get); err != nil {
			return err
		}
	}
	for r := range numRoles {
		var t jsonToken
		if err := get(r.String(), &t); err != nil {
			return err
		}
		if c.names[r].Content == "" {
			c.names[r] = t
		}
	}
	for r, key := range map[role]string{roleCLS: "bos_token", roleSEP: "eos_token",
		rolePad: "eos_token"} {
		var t jsonToken
		if err := get(key, &t); err != nil {
			return err
		}
		c.instead[r] = cmp.Or(c.instead[r], t.Content)
	}
	var further []jsonToken
	if err := get("additional_special_tokens", &further); err != nil {
		return err
	}
	c.further = append(c.further, further...)
	return c.readExtra(name, data, fields["extra_special_tokens"])
}

// readExtra reads extra_special_tokens, the newer name of
// additional_special_tokens: a list, or an object by role.
func (c *config) readExtra(name string, data, raw []byte) error {
	const key = "extra_special_tokens"
	if len(raw) > 0 && raw[0] == '{' {
		var byRole map[string]jsonToken
		if err := decodeJSON(name, key, data, raw, &byRole); err != nil {
			return err
		}
		for _, role := range slices.Sorted(maps.Keys(byRole)) {
			c.further = append(c.further, byRole[role])
		}
		return nil
	}
	if absent(raw) {
		return nil
	}
	var list []jsonToken
	if err := decodeJSON(name, key, data, raw, &list); err != nil {
		return err
	}
	c.further = append(c.further, list...)
	return nil
}

// readDecoder reads added_tokens_decoder: an object of tokens by id.
func (c *config) readDecoder(data []byte, get func(string, any) error) error {
	const key = "added_tokens_decoder"
	var byID map[string]json.RawMessage
	if err := get(key, &byID); err != nil {
		return err
	}
	for _, k := range slices.Sorted(maps.Keys(byID)) {
		id, err := strconv.ParseInt(k, 10, 32)
		if err != nil || id < 0 || id >= maxVocabulary {
			return &FileError{File: configFile, Path: joinPath(key, k),
				Err: problem(ErrFormat, "want an id from 0 to %d as key", maxVocabulary-1)}
		}
		var t jsonToken
		if err := decodeJSON(configFile, joinPath(key, k), data, byID[k], &t); err != nil {
			return err
		}
		c.added = append(c.added, t.added(int32(id)))
	}
	return nil
}

// readAdded reads added_tokens.json: an object of ids by token.
func (c *config) readAdded(data []byte) error {
	var ids map[string]int64
	if err := decodeJSON(addedFile, "", data, data, &ids); err != nil {
		return err
	}
	known := make(map[string]bool)
	for _, a := range c.added {
		known[a.Content] = true
	}
	for _, content := range slices.Sorted(maps.Keys(ids)) {
		id := ids[content]
		if id < 0 || id >= maxVocabulary {
			return &FileError{File: addedFile, Path: strconv.Quote(content),
				Err: problem(ErrFormat, "the id is %d, want 0 to %d", id, maxVocabulary-1)}
		}
		if !known[content] {
			c.added = append(c.added, jsonToken{Content: content}.added(int32(id)))
		}
	}
	return nil
}

// apply puts the configuration over a spec.
func (c *config) apply(s *spec) {
	if c.lower != nil {
		// Unless the files say otherwise, accents go with the case.
		if c.strip == nil && s.norm.strip == s.norm.lower {
			s.norm.strip = *c.lower
		}
		s.norm.lower = *c.lower
	}
	if c.strip != nil {
		s.norm.strip = *c.strip
	}
	if c.chinese != nil {
		s.norm.chinese = *c.chinese
	}
	for r, t := range c.names {
		if t.Content != "" {
			s.names[r], s.flags[r] = t.Content, t.special(0)
			if role(r) == roleMask && t.plain && c.maskStrips {
				s.flags[r].LeftStrip = true
			}
		}
	}
	s.instead, s.length, s.typography = c.instead, c.length, c.typography
	known := make(map[string]bool)
	next := s.size
	for _, a := range s.added {
		known[a.Content] = true
		next = max(next, int(a.ID)+1)
	}
	for _, a := range c.added {
		next = max(next, int(a.ID)+1)
		if !known[a.Content] {
			known[a.Content] = true
			s.added = append(s.added, a)
		}
	}
	for _, t := range c.further {
		if known[t.Content] || t.Content == "" {
			continue
		}
		known[t.Content] = true
		id, ok := s.vocab[t.Content]
		if !ok { // as transformers does: it goes behind all others
			id = next
			next++
		}
		s.added = append(s.added, t.special(int32(id)))
	}
}
