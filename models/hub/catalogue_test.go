package hub

import (
	"fmt"
	"slices"
	"strings"
	"testing"
	"unicode"
)

// What is part of the program: every file has a hash.
func TestBuiltin(t *testing.T) {
	all := Catalogue()
	if len(all) != 5 {
		t.Fatalf("%d models", len(all))
	}
	keys, weights := map[string]bool{}, map[string]bool{}
	for _, m := range all {
		if err := m.check(); err != nil {
			t.Error(err)
		}
		if keys[m.Key()] || m.Licence == "" || m.Architecture == "" ||
			!strings.HasPrefix(m.Home, defaultHub+"/") || m.Size() < 1e6 {
			t.Errorf("%+v", m)
		}
		keys[m.Key()] = true
		tokenizer := false
		for _, f := range m.Files {
			if !m.pinned(f) {
				t.Errorf("%s: %s has no hash", m.Name, f.Path)
			}
			tokenizer = tokenizer || f.Path == "vocab.txt" || f.Path == "tokenizer.json"
			if strings.HasSuffix(f.Path, ".onnx") {
				if weights[f.SHA256] {
					t.Errorf("%s: the model of another entry", m.Name)
				}
				weights[f.SHA256] = true
			}
		}
		if !tokenizer {
			t.Errorf("%s has no tokenizer", m.Name)
		}
	}
	if m := find("bert-base"); m != nil {
		t.Errorf("%+v", m)
	}
}

// The small files of the catalogue whose text is known: their sizes and hashes follow from that
// text.
func TestBuiltinKnownTexts(t *testing.T) {
	texts := map[string]bool{}
	known := []string{`{"do_lower_case": true, "model_max_length": 512}`,
		`{"do_lower_case": false, "model_max_length": 512}`, `{"model_max_length": 512}`}
	roberta := func(name, kind string, hidden, inner, heads, layers, vocabulary int, more ...string) string {
		lines := []string{`"architectures": [` + "\n    " + `"` + kind + `ForMaskedLM"` + "\n  ]",
			`"attention_probs_dropout_prob": 0.1`, `"bos_token_id": 0`, `"eos_token_id": 2`,
			`"hidden_act": "gelu"`, `"hidden_dropout_prob": 0.1`, fmt.Sprintf(`"hidden_size": %d`, hidden),
			`"initializer_range": 0.02`, fmt.Sprintf(`"intermediate_size": %d`, inner),
			`"layer_norm_eps": 1e-05`, `"max_position_embeddings": 514`, `"model_type": "` + name + `"`,
			fmt.Sprintf(`"num_attention_heads": %d`, heads), fmt.Sprintf(`"num_hidden_layers": %d`, layers),
			`"pad_token_id": 1`, `"type_vocab_size": 1`, fmt.Sprintf(`"vocab_size": %d`, vocabulary)}
		lines = append(lines, more...)
		slices.Sort(lines)
		return "{\n  " + strings.Join(lines, ",\n  ") + "\n}\n"
	}
	known = append(known, roberta("roberta", "Roberta", 768, 3072, 12, 12, 50265),
		roberta("xlm-roberta", "XLMRoberta", 768, 3072, 12, 12, 250002, `"output_past": true`,
			`"position_embedding_type": "absolute"`, `"transformers_version": "4.17.0.dev0"`,
			`"use_cache": true`))
	sizes := map[string]int{}
	for _, text := range known {
		texts[sumOf([]byte(text))] = true
		sizes[sumOf([]byte(text))] = len(text)
	}
	n := 0
	for _, m := range Catalogue() {
		for _, f := range m.Files {
			config := f.Path == "config.json" && strings.Contains(m.Name, "roberta")
			if (f.Path == "tokenizer_config.json" || config) && m.pinned(f) {
				n++
				if !texts[f.SHA256] || f.Bytes != int64(sizes[f.SHA256]) {
					t.Errorf("%s: %s: %s, %d bytes", m.Name, f.Path, f.SHA256, f.Bytes)
				}
			}
		}
	}
	if n != 6 {
		t.Errorf("%d of them", n)
	}
}

// For every script of the world's larger languages a model is named.
func TestForScript(t *testing.T) {
	t.Parallel()
	for script, want := range map[string]string{"Latin": "xlm-roberta-base",
		"Hiragana": "xlm-roberta-base", "Thai": "xlm-roberta-base", "Cuneiform": "", "": ""} {
		got := ""
		if m := ForScript(script); m != nil {
			got = m.Name
		}
		if got != want {
			t.Errorf("%s: %q, want %q", script, got, want)
		}
	}
	for _, m := range Catalogue() {
		for _, script := range m.Scripts {
			if unicode.Scripts[script] == nil {
				t.Errorf("%s: no script is called %s", m.Name, script)
			}
		}
	}
}
