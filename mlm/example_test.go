package mlm_test

import (
	"context"
	"fmt"
	"log"

	"infill/mlm"
	"infill/models"
)

// The gradient says for every blank by how much U would change, to first order, if another token
// stood there. Here one of the words does not fit, and the gradient says which would.
func ExampleModel_Gradient() {
	ctx := context.Background()
	m, err := mlm.Open(ctx, models.Small(), mlm.Options{Threads: 2})
	if err != nil {
		log.Fatal(err)
	}
	defer func() { _ = m.Close() }()
	tok := m.Tokenizer()
	enc, err := tok.Encode("She drank a cup of [MASK] and ate a piece of [MASK].")
	if err != nil {
		log.Fatal(err)
	}
	s := &mlm.Sentence{IDs: enc.IDs}
	for p, id := range enc.IDs {
		if id == tok.MaskID() {
			s.Blanks = append(s.Blanks, p)
		}
	}
	state := make([]int32, len(s.Blanks)) // what stands in the blanks
	for i, word := range []string{"doors", "tea"} {
		state[i], _ = tok.ID(word)
	}
	v := m.VocabSize()
	logProb := [][]float32{make([]float32, len(state))}
	grad := [][]float32{make([]float32, len(state)*v)}
	if err := m.Gradient(ctx, s, [][]int32{state}, mlm.Full, logProb, grad); err != nil {
		log.Fatal(err)
	}
	for i, now := range state {
		row := grad[0][i*v : (i+1)*v] // the entries of blank i
		best := 0
		for id := range row {
			if row[id] > row[best] {
				best = id
			}
		}
		fmt.Printf("%s has log f = %.0f; with %s U would gain %.0f nats\n", tok.Token(now),
			logProb[0][i], tok.Token(int32(best)), row[best]-row[now])
	}
	// Output:
	// doors has log f = -8; with tea U would gain 9 nats
	// tea has log f = -2; with tea U would gain 0 nats
}
