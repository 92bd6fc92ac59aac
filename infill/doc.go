// Package infill fills the blanks of a sentence jointly.
//
// Three calls are all that most programs need:
//
//	e, err := open.Engine() // of package infill/open
//	defer e.Close()
//	r, err := e.FillText(ctx, "The [MASK] sat on the [MASK].", infill.Options{})
//	for _, f := range r.Fillings {
//		fmt.Println(f.Text, f.Score)
//	}
//
// Package infill/text has blanks, templates and lists of words, which [Engine.Fill] and [Options]
// take. [Engine.Candidates] ranks words, [Engine.Score] scores whole texts, and package
// infill/variants makes other texts of one.
//
// A masked language model (package mlm) scores a whole assignment θ of tokens
// to the m blanks by its pseudo-log-likelihood
//
//	U(θ) = Σ_i log f(θ_i | sentence with blank i masked, the other blanks filled)
//
// in nats. By default the assignments with the best scores are searched for. With MethodSample a
// discrete sampler (package samplers) draws from π(θ) ∝ exp(U(θ)/T) on the tokens that each blank
// may take: the energy of Zhang, Liu & Liu, "A Langevin-like Sampler for Discrete Distributions",
// ICML 2022, section 7.5 and appendix I.6, where any of the vocabulary's tokens may fill a blank
// (Options.Words.Vocab).
//
// Everything outside the blanks comes out byte for byte as it went in: a
// filling is spliced into the original text, never decoded from tokens.
//
// A result depends on the model, the template, the options and the seed only,
// not on threads, batch sizes, or whatever else is being filled.
package infill
