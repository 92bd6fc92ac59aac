// Package onnxgrad derives, from the inference graph of a masked language model, the graph that
// gradient-based samplers need: the energy of a filled sentence and its gradient with respect to every
// token that could stand at every blank.
//
// # What is computed
//
// A state θ fills the m blanks of a sentence. Its energy, the pseudo-log-likelihood of DLP (Zhang, Liu
// and Liu 2022, arXiv:2206.09914, appendix I.6), is
//
//	U(θ) = Σ_i log f(θ_i | sentence with blank i masked),
//
// f being the model's softmax. One energy takes m rows, each the filled sentence with one blank masked.
// Seen as a function of one-hot vectors, U has the gradient
//
//	∇U_j[v] = log f(v | blank j masked) + E_v · Σ_{i≠j} ∂ log f(θ_i | blank i masked)/∂e_j,
//
// where E is the table of word embeddings and e_j the embedding at blank j. The first term is what row j
// gives anyway; the second is one backward pass over the m rows and one product with E.
//
// # The derived graph
//
// R = C·m rows; the m rows of a chain are consecutive, row i of a chain has blank i masked and the
// others filled. L is the padded length and V the vocabulary.
//
//	in   input_ids        [R, L] int64   and attention_mask, token_type_ids, position_ids where the model has them
//	     positions        [R]    int64   the row's own blank
//	     targets          [R]    int64   θ at the row's own blank
//	     blanks           [C, m] int64   positions of all blanks of the chain
//	     first_alike      [U]    int64   the distinct positions, as places among the R·L
//	     alike            [R, L] int64   for every position, which of the U it is like: see Alike;
//	                                     both absent if nothing can be shared
//	     with_conditional bool
//	     with_gradient    bool           absent if the graph was derived forward-only
//	out  log_prob         [R]       float32  log f(target), nats
//	     conditional      [R, V]    float32  log f(·) at the row's blank, [1, 1] if not asked for
//	     gradient         [C, m, V] float32  ∇U, [1, 1, 1] if not asked for
//
// For m = 1 the second term vanishes, so that gradient equals conditional and asking for the latter is
// cheaper. Chains of different m need different calls.
//
// # How
//
//  1. load: the graph is read into nodes whose tensors' shapes are worked out at two sizes of a call
//     (infer.go); a dimension that is equal at both is constant. What follows from constants and shapes
//     alone is computed on the spot. Reshape in all its guises becomes one operation whose target is
//     known, so shape arithmetic falls away. Composite operations without rules of their own (attention,
//     rotary embeddings, Gelu with a bias, …) are written out (the lowerings in ops_*.go).
//  2. fuse, tidyProducts, tie: written-out layer norms and Gelus become single nodes; scalings and
//     transpositions move into the products that they feed; a head that is the transposed embedding
//     table uses the table, of which one copy remains.
//  3. gatherer: the logits are wanted at one position of each row. The gather is pushed towards the
//     inputs through everything that works position by position, past the head and into the last layer,
//     of which only keys and values are needed everywhere. The gathered axis keeps its place, with
//     length 1, so that later operations stay as they are.
//     With a single query for each row the last layer then needs neither keys nor values: the weights that
//     make them turn the query and the weighted mean instead (oneQuery).
//  4. tape: layer norms and Gelus are expanded again, in forms that keep what their derivatives need
//     (x̂ and 1/σ; 1 + erf); products with a bias become Gemm.
//  5. reverse: one rule per operation (ops_*.go) turns the gradient of its output into those of its
//     inputs, from E[target] − softmax·Eᵀ at the head down to the embeddings.
//  6. gatherer again: of the gradient at the embeddings only the blanks of the chain are wanted, which
//     shortens the end of the backward pass, the first layer's attention included. What the last layer's one
//     query sends to all positions is summed up in one product (outerProducts).
//  7. share: up to the first attention a model works position by position. This part is computed once for all
//     positions of the call that have the same token in the same place, and looked up where it is read. The
//     rows of a state differ in two places from one another, so that U is a tenth of R·L or less.
//  8. emit: the backward pass becomes a branch of an ONNX If. The runtime always computes everything that
//     is outside branches, so this is how one session with one copy of the weights serves calls with and
//     without gradients. Saved values of the forward pass are read by the branch from outside.
//
// Load the derived graph with at least basic optimisation: it folds the casts of weights that are stored
// in float16, which would else be done at every call. Results are the same bits for any batch and any
// number of threads, but not for another padded length.
//
// An operation without a rule is an *OpError that names it. Nothing here runs a model; the derived graph
// uses the standard operators and com.microsoft's FusedMatMul.
package onnxgrad
