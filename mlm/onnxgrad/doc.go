// Package onnxgrad derives, from the inference graph of a masked language model, the graph that
// gradient-based samplers need: the energy of a filled sentence and its gradient with respect to
// every token that could stand at every blank.
//
// # What is computed
//
// A state θ fills the m blanks of a sentence. Its energy, the pseudo-log-likelihood of DLP (Zhang,
// Liu and Liu 2022, arXiv:2206.09914, appendix I.6), is
//
//	U(θ) = Σ_i log f(θ_i | sentence with blank i masked),
//
// f being the model's softmax. One energy takes m rows, each the filled sentence with one blank
// masked. Seen as a function of one-hot vectors, U has the gradient
//
//	∇U_j[v] = log f(v | blank j masked) + E_v · Σ_{i≠j} ∂ log f(θ_i | blank i masked)/∂e_j,
//
// where E is the table of word embeddings and e_j the embedding at blank j. The first term is what
// row j gives anyway. The second is one backward pass over the m rows and one product with E.
//
// # The derived graph
//
// R = C·m rows. The m rows of a chain are consecutive, row i of a chain has blank i masked and the
// others filled. L is the padded length and V the vocabulary.
//
//	in   input_ids        [R, L] int64   and the mask, types and positions that the model takes
//	     positions        [R]    int64   the row's own blank
//	     targets          [R]    int64   θ at the row's own blank
//	     blanks           [C, m] int64   positions of all blanks of the chain
//	     first_alike      [U]    int64   the distinct positions, as places among the R·L
//	     alike            [R, L] int64   for every position, which of the U it is like: see Call;
//	                                     both absent if nothing can be shared
//	     with_conditional bool
//	     with_gradient    bool           absent if the graph was derived forward-only
//	out  log_prob         [R]       float32  log f(target), nats
//	     conditional      [R, V]    float32  log f(·) at the row's blank, [1, 1] if not asked for
//	     gradient         [C, m, V] float32  ∇U, [1, 1, 1] if not asked for
//	     state            [R, H]    float32  what the head's product reads at the row's blank; absent
//	                                         if the head is not a product with a weight
//
// For m = 1 the second term vanishes, so that gradient equals conditional and asking for the latter
// is cheaper. Chains of different m need different calls.
//
// # The graph of a prompt
//
// Options.Prompt makes a graph for prompts that are tuned. Every row r has m positions, its blanks,
// that hold vectors of D numbers in place of words. Its gradient belongs to the row's own
// log-probability:
//
//	in   blanks    [R, m]     int64    positions of the row, different from each other
//	     prompt    [R, m, D]  float32  what stands there
//	out  gradient  [R, m, D]  float32  ∂ log f(target)/∂ prompt, in place of ∇U
//
// The other inputs and outputs are those above, without first_alike and alike. A prompt of rows of
// E is the same as their words. With E the gradient gives all one-hot derivatives: E_v·∂/∂e_j.
// The derivation leaves out the sum over the rows of a chain and what positions share.
//
// # The graph of the whole file
//
// Options.Whole makes the file's own interface again, with logits [R, L, V]: to find the columns
// that Options.Int8 leaves in float32, and to compare with.
//
// # How
//
// What is known of an ONNX operator is one record (operator.go), in the file of its family
// (ops_*.go): how many inputs it takes, shapes and types, how it folds, how it is gathered and
// shared, its derivative or the reason why there is none. The file is read into nodes by load.
// Their shapes are worked out at two sizes of a call: a dimension that is equal at both is
// constant. What follows from constants and sizes is computed on the spot, with the operators of
// mlm/onnxeval. Reshape in all its guises becomes one operation whose target is known, so that
// shape arithmetic falls away. Composite operators (attention, rotary embeddings, Gelu with a bias,
// …) are written out in others.
//
// Then the passes of derive.go follow each other:
//
//   - fuse: written-out layer norms and Gelus become single nodes.
//   - tidy products: scalings and transpositions move into the products that they feed.
//   - find embedding: finds the lookup of input_ids in the table of word embeddings.
//   - prompt: with Options.Prompt, vectors that are an input stand at the blanks of every row.
//   - tie: a head that is the transposed table uses the table. One copy of it remains.
//   - number: the matrices that Options.Int8 rounds get numbers.
//   - gather logits: the logits are wanted at one position of each row. The gather is pushed
//     towards the inputs through everything that works position by position, past the head and into
//     the last layer, where only keys and values are needed everywhere. The gathered axis keeps
//     its place, with length 1, so that later operations stay as they are.
//   - one query: with a single query for each row the last layer needs neither keys nor values. The
//     weights that make them turn the query and the weighted mean instead.
//   - tape: layer norms and Gelus are expanded again, in forms that keep what their derivatives
//     need (x̂ and 1/σ; 1 + erf).
//   - halves: with Options.Half, in the place of the tape, everything up to the logits is in half
//     precision, with layer norms, Gelus and attention as the runtime's own operations.
//   - score: log f of the targets.
//   - head: the gradient of log f at the head, E[target] − softmax·Eᵀ.
//   - reverse: the rules of the operators turn the gradient of an output into those of the inputs,
//     down to the embeddings.
//   - gather gradient: of the gradient at the embeddings only the blanks of the chain are wanted,
//     which shortens the end of the backward pass, the first layer's attention included.
//   - second term: the sum over the rows of a chain, and the product with the table.
//   - share: up to the first attention a model works position by position. This part is computed
//     once for all positions of the call that have the same token in the same place, and looked up
//     where it is read. The rows of a state differ in two places from one another, so that U is a
//     tenth of R·L or less.
//   - watch: with Options.Whole, the largest sizes of what these are multiplied with are outputs.
//   - integers: with Options.Int8, products with weights are computed in 8 bits.
//   - plain: with Options.Whole, products are operators of ONNX alone, none of the runtime's.
//   - emit: the backward pass becomes a branch of an ONNX If. The runtime always computes
//     everything that is outside branches, so this is how one session with one copy of the weights
//     serves calls with and without gradients. Saved values of the forward pass are read by the
//     branch from outside. Products with a bias become Gemm.
//   - emit whole: with Options.Whole, the graph has the interface of the file.
//
// Load the derived graph with at least basic optimisation: it folds the casts of weights that are
// stored in float16, which would else be done at every call. Results are the same bits for any
// batch and any number of threads, but not for another padded length.
//
// An operation without a rule is an *Error that names it. Nothing here runs a model. The derived
// graph uses the standard operators and com.microsoft's FusedMatMul.
package onnxgrad
