package tokenize

import (
	"bytes"
	"fmt"
	"math/rand/v2"
	"os"
	"testing"
)

// benchTokenizer is bert-base-uncased where the shared data is, else a small one.
func benchTokenizer(b *testing.B) *Tokenizer {
	b.Helper()
	root := os.Getenv("TEST_INFILL_SHARED")
	if root == "" {
		root = "../../shared"
	}
	data, err := os.ReadFile(root + "/data/tokenize/bert-base-uncased-vocab.txt")
	if err != nil {
		b.Log("bert-base-uncased-vocab.txt is not there; using the small vocabulary of testdata")
		if data, err = os.ReadFile("testdata/uncased/vocab.txt"); err != nil {
			b.Fatal(err)
		}
	}
	pieces, err := readVocab(data, "vocab.txt")
	if err != nil {
		b.Fatal(err)
	}
	tok, err := newTokenizer(pieces, options{})
	if err != nil {
		b.Fatal(err)
	}
	return tok
}

// passages are sentences in the manner of news, fiction and forums, with the
// names, numbers, quotes and rare words that they have.
var passages = []string{
	"The old man walked slowly down the street, and nobody who saw him that morning would have " +
		"guessed where he was going.",
	"\"I don't know,\" she said, \"but it's not the first time he's been late for dinner — is it?\"",
	"In 2019 the company reported revenue of $3.2 billion, up 14% from the previous year, " +
		"according to Reuters.",
	"Photosynthesis converts carbon dioxide and water into carbohydrates; chloroplasts contain " +
		"the chlorophyll.",
	"He’d visited Zürich, Kraków and São Paulo before settling in Edinburgh with his wife Anneliese.",
	"The [MASK] walked down the [MASK] and saw a [MASK].",
	"lol thats hilarious!! cant believe u actually did that, gonna tell everyone tmrw",
	"Interdisciplinary researchers hypothesised that the micro-organisms' antimicrobial " +
		"resistance was underreported.",
}

// run encodes the texts over and over and reports pieces per second.
func run(b *testing.B, tok *Tokenizer, texts []string) {
	b.Helper()
	size, pieces, i := 0, 0, 0
	b.ReportAllocs()
	for b.Loop() {
		e, err := tok.Encode(texts[i%len(texts)])
		if err != nil {
			b.Fatal(err)
		}
		size += len(texts[i%len(texts)])
		pieces += e.Len()
		i++
	}
	b.ReportMetric(float64(pieces)/b.Elapsed().Seconds(), "tokens/s")
	b.ReportMetric(float64(size)/1e6/b.Elapsed().Seconds(), "MB/s")
}

// BenchmarkEncode is the usual case: words that came before.
func BenchmarkEncode(b *testing.B) { run(b, benchTokenizer(b), passages) }

// BenchmarkKinds is BenchmarkEncode for the small tokenizers of testdata/hf.
// testdata/hf/speed.py does the same in Hugging Face's library.
func BenchmarkKinds(b *testing.B) {
	for _, name := range hfNames {
		b.Run(name, func(b *testing.B) { run(b, hfTokenizer(b, name), passages) })
	}
}

// BenchmarkEncodeFile encodes the lines of the file INFILL_BENCH_TEXT once and
// again, at most 64 MB of it.
func BenchmarkEncodeFile(b *testing.B) {
	name := os.Getenv("INFILL_BENCH_TEXT")
	if name == "" {
		b.Skip("set INFILL_BENCH_TEXT to a text file")
	}
	f, err := os.Open(name)
	if err != nil {
		b.Fatal(err)
	}
	defer f.Close() //nolint:errcheck // only read from
	data := make([]byte, 64<<20)
	n, err := f.Read(data)
	if err != nil {
		b.Fatal(err)
	}
	var lines []string
	for line := range bytes.Lines(data[:n]) {
		lines = append(lines, string(bytes.ToValidUTF8(line, nil)))
	}
	run(b, benchTokenizer(b), lines)
}

// BenchmarkEncodeCold encodes words that are in no vocabulary and never come
// twice, so that nothing is remembered: the speed of the greedy matching.
func BenchmarkEncodeCold(b *testing.B) {
	tok := benchTokenizer(b)
	syllables := []string{"ba", "ken", "tro", "lis", "mun", "fa", "gret", "os", "ti", "ver", "shu",
		"wol"}
	r := rand.New(rand.NewPCG(1, 2))
	pieces := 0
	b.ReportAllocs()
	for b.Loop() {
		text := make([]byte, 0, 128)
		for range 8 {
			for range 3 + r.IntN(3) {
				text = append(text, syllables[r.IntN(len(syllables))]...)
			}
			text = fmt.Appendf(text, "%x ", r.Uint32N(1<<20))
		}
		e, err := tok.Encode(string(text))
		if err != nil {
			b.Fatal(err)
		}
		pieces += e.Len()
	}
	b.ReportMetric(float64(pieces)/b.Elapsed().Seconds(), "tokens/s")
}

// BenchmarkEncodeUnicode encodes texts that are hardly ASCII.
func BenchmarkEncodeUnicode(b *testing.B) {
	run(b, benchTokenizer(b), []string{
		"Über die Brücke führt ein schmaler Weg zur alten Mühle, die früher Mehl für das ganze Dorf " +
			"lieferte.",
		"Сегодня утром в городе шёл сильный дождь, и улицы были пусты.",
		"L’été dernier, nous sommes allés à la plage près de Saint-Malo où l’eau était déjà très chaude.",
		"今天天气很好，我们去公园散步吧。", "오늘은 날씨가 정말 좋습니다.",
	})
}

// BenchmarkLoad is the start of a program.
func BenchmarkLoad(b *testing.B) {
	pieces := benchTokenizer(b).tokens
	for b.Loop() {
		if _, err := newTokenizer(pieces, options{}); err != nil {
			b.Fatal(err)
		}
	}
}
