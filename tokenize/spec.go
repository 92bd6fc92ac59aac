package tokenize

import "strings"

// spec is what the readers of the file formats find out.
type spec struct {
	vocab    map[string]int
	repeated []string // see Tokenizer.Repeated
	size     int      // one more than the highest id of vocab
	added    []addedToken
	names    [numRoles]string // "" for the usual one
	flags    [numRoles]addedToken
	instead  [numRoles]string // spellings of tokens that serve where there is no other
	norm     bertNormalizer
	prefix   string // of pieces inside a word
	maxChars int    // 0 for 100
	template bool   // before and after are given; else CLS and SEP
	algorithm
	parts        *pipeline // the text stage, unless it is BERT's
	merges       [][2]string
	ignoreMerges bool
	scores       []scored
	unknown      int // of a Unigram model; −1: none
	byteFallback bool
	bytesUnknown bool    // a byte without a piece becomes the unknown token
	causal       bool    // a mask and its like may be missing
	before       []int32 // ids put before and after every text
	after        []int32
	length       int
	typography   Typography
}

// add gives a piece its id; "" is an id without a piece.
func (s *spec) add(piece string, id int) {
	if piece == "" {
		return
	}
	if _, twice := s.vocab[piece]; twice {
		s.repeated = append(s.repeated, piece)
	}
	s.vocab[piece] = id
}

// usual are the spellings of BERT, and those of RoBERTa, which MPNet shares.
var usual = [numRoles][2]string{{"[UNK]", "<unk>"}, {"[MASK]", "<mask>"}, {"[PAD]", "<pad>"},
	{"[CLS]", "<s>"}, {"[SEP]", "</s>"}}

// build makes the tokenizer or says what is missing.
func (s *spec) build() (*Tokenizer, error) {
	if s.maxChars == 0 {
		s.maxChars = 100
	}
	switch {
	case len(s.vocab) == 0:
		return nil, problem(ErrFormat, "the vocabulary is empty")
	case s.size > maxVocabulary:
		return nil, problem(ErrTooLarge, "%d pieces, at most %d are accepted", s.size, maxVocabulary)
	case len(s.added) > maxAdded:
		return nil, problem(ErrTooLarge, "%d added tokens, at most %d are accepted", len(s.added),
			maxAdded)
	}
	t := &Tokenizer{
		tokens:    make([]string, s.size),
		ids:       make(map[string]int32, len(s.vocab)+len(s.added)),
		kind:      make([]kind, s.size),
		maxLength: s.length,
		continues: s.prefix,
		algorithm: s.algorithm,
		repeated:  s.repeated,
	}
	for p, id := range s.vocab {
		if other := t.tokens[id]; other != "" {
			return nil, problem(ErrFormat, "pieces %q and %q have the same id %d", other, p, id)
		}
		t.tokens[id], t.ids[p] = p, int32(id)
		if s.algorithm == wordPieceModel && len(p) > len(s.prefix) && s.prefix != "" &&
			strings.HasPrefix(p, s.prefix) {
			t.kind[id] |= kindContinuation
		}
	}
	if err := s.addTokens(t); err != nil {
		return nil, err
	}
	if err := s.addRoles(t); err != nil {
		return nil, err
	}
	for id, token := range t.tokens {
		if token == "" || isPlaceholder(token) {
			t.kind[id] |= kindUnused
		}
	}
	return t, s.stages(t)
}

// stages makes the two stages, and the matchers of added tokens.
func (s *spec) stages(t *Tokenizer) error {
	if t.text = s.parts; t.text == nil {
		t.text = bertText(s.norm)
	}
	if t.typography = s.typography; t.typography == Straight {
		t.text.norm = append([]normalizer{straight{}}, t.text.norm...)
	}
	var original, normal []addedToken
	for _, a := range s.added {
		if a.Normalized {
			a.Content = t.text.normal(a.Content)
			normal = append(normal, a)
		} else {
			original = append(original, a)
		}
	}
	t.added, t.text.added = newMatcher(original), newMatcher(normal)
	t.lower = t.text.normal("A") == "a"
	unknown := int32(-1)
	if id, ok := s.vocab[s.names[roleUnknown]]; ok && s.bytesUnknown {
		unknown = int32(id)
	}
	var err error
	switch s.algorithm {
	case bytePairModel:
		t.model, err = newBytePairs(s.vocab, s.merges, unknown, s.ignoreMerges)
	case charPairModel:
		t.model, err = newCharPairs(s.vocab, s.merges, s.ignoreMerges)
	case unigramModel:
		t.model, err = newUnigram(s.scores, s.unknown, s.byteFallback)
	default:
		t.model = newWordPiece(s.vocab, s.names[roleUnknown], s.prefix, s.maxChars)
	}
	if t.MarksSpaces() {
		t.findMark()
	}
	return err
}

// addTokens gives added tokens their ids; several have ids behind the vocabulary's.
func (s *spec) addTokens(t *Tokenizer) error {
	for _, a := range s.added {
		id := int(a.ID)
		switch {
		case a.Content == "" || len(a.Content) > maxPieceBytes:
			return problem(ErrFormat, "added token %d has %d bytes, want 1 to %d", id, len(a.Content),
				maxPieceBytes)
		case id < 0 || id >= maxVocabulary:
			return problem(ErrFormat, "added token %q has the id %d, want 0 to %d", a.Content, id,
				maxVocabulary-1)
		}
		if known, ok := t.ids[a.Content]; ok && int(known) != id {
			return problem(ErrFormat, "added token %q has the id %d here and %d in the vocabulary",
				a.Content, id, known)
		}
		for len(t.tokens) <= id {
			t.tokens, t.kind = append(t.tokens, ""), append(t.kind, 0)
		}
		if other := t.tokens[id]; other != "" && other != a.Content {
			return problem(ErrFormat, "added token %q has the id %d, which is %q in the vocabulary",
				a.Content, id, other)
		}
		t.tokens[id], t.ids[a.Content] = a.Content, a.ID
		t.kind[id] = t.kind[id]&^kindContinuation | kindAdded
		if a.Special {
			t.kind[id] |= kindSpecial
		}
	}
	return nil
}

// addRoles finds the special tokens and makes those added tokens that are not yet.
func (s *spec) addRoles(t *Tokenizer) error {
	for r := range numRoles {
		if s.names[r] == "" {
			s.names[r] = usual[r][0]
			for _, name := range usual[r] {
				if _, ok := t.ids[name]; ok {
					s.names[r] = name
					break
				}
			}
		}
		name := s.names[r]
		id, ok := t.ids[name]
		if !ok && s.instead[r] != "" {
			name = s.instead[r]
			id, ok = t.ids[name]
		}
		if !ok && s.needless(r) {
			t.roles[r] = -1
			continue
		}
		if key := r.String(); !ok {
			if s.causal && r == roleCLS {
				key = "bos_token"
			}
			return problem(errMissingToken, "%s %q is not in the vocabulary; set %s in "+
				"tokenizer_config.json to the model's spelling", key, name, key)
		}
		t.roles[r] = id
		if t.kind[id]&kindAdded == 0 {
			a := s.flags[r]
			a.ID, a.Content, a.Special = id, name, true
			s.added = append(s.added, a)
		}
		t.kind[id] = t.kind[id]&^kindContinuation | kindAdded | kindSpecial
	}
	if _, ok := s.vocab[s.names[roleUnknown]]; !ok && s.algorithm == wordPieceModel {
		return problem(errMissingToken, "unk_token %q is an added token, it must be in the model's "+
			"vocabulary", s.names[roleUnknown])
	}
	t.prefix, t.suffix = []int32{t.roles[roleCLS]}, []int32{t.roles[roleSEP]}
	if s.template {
		t.prefix, t.suffix = s.before, s.after
	}
	for _, id := range append(append([]int32(nil), t.prefix...), t.suffix...) {
		if id < 0 || int(id) >= len(t.tokens) || t.tokens[id] == "" {
			return problem(ErrFormat, "the post-processor adds the id %d, which has no token", id)
		}
		t.kind[id] |= kindSpecial
	}
	return nil
}

// needless reports whether a model may lack a token: a causal one has no mask, and one whose files
// say that nothing stands around a text has no marks for it.
func (s *spec) needless(r role) bool {
	switch r {
	case roleUnknown:
		return s.neverUnknown()
	case roleMask:
		return s.causal
	case roleCLS:
		return s.template && len(s.before) == 0 && !s.causal
	}
	return s.template && len(s.after) == 0
}

// neverUnknown reports whether every text can be spelt with the pieces, so that no unknown
// token is needed.
func (s *spec) neverUnknown() bool {
	switch s.algorithm {
	case charPairModel:
		return true
	case bytePairModel:
		for _, r := range runeOf {
			if _, ok := s.vocab[string(r)]; !ok {
				return false
			}
		}
		return true
	}
	return false
}

// isPlaceholder reports whether a piece is only there to fill the table:
// [unused7] of BERT, <unused7>, madeupword0001 of RoBERTa.
func isPlaceholder(token string) bool {
	digits := func(s string) bool {
		return s != "" && strings.Trim(s, "0123456789") == ""
	}
	lower := strings.ToLower(token)
	for _, p := range [...][2]string{{"[unused", "]"}, {"<unused", ">"}, {"[unused_", "]"},
		{"<unused_", ">"}, {"madeupword", ""}} {
		if rest, ok := strings.CutPrefix(lower, p[0]); ok {
			if number, ok := strings.CutSuffix(rest, p[1]); ok && digits(number) {
				return true
			}
		}
	}
	return false
}
