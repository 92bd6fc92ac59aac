package records

// The chains of a text ask the model for a few rows at a time, and some are known. A call of a
// model of two layers takes 1.4 ms, and .3 ms more for each row. It is to have some forty rows,
// which this many chains of the texts in work see to, for each thread.
const (
	chainsInWork = 80
	fewestTexts  = 4 // for each thread, of many chains
	mostTexts    = 32
)

// InFlight is how many texts are to be in work at the same time, so that the calls of a model with
// a number of threads are large, for fillings of a number of chains: 0 chains for a default
// number, and for scores. Results do not depend on it. Memory does: a chain has two rows of float64
// over the vocabulary for every blank.
func InFlight(threads, chains int) int {
	if chains <= 0 {
		return fewestTexts * threads
	}
	return threads * min(max(chainsInWork/chains, fewestTexts), mostTexts)
}
