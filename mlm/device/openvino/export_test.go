package openvino

// For tests with devices of package devicetest, which imports this one.
var (
	NegateMeans  = negateMeans
	SplitSquares = splitSquares
)
