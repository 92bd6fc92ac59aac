// Package report turns generated sentences into numbers one can compare and
// pictures worth looking at.
//
// [Eval] reads files of generated sentences and of references and measures
// diversity and quality. [Compare] does the same for several samplers that were
// run on the same sentences, and adds what only a run knows: acceptance, distinct
// fillings, scores, model evaluations, wall time and traces. [Prepare] reads its
// references before the run. Both results render
// themselves as a terminal table, JSON, Markdown and one self-contained HTML file.
//
// Every number is a [Metric]: it has a signature that names its definition, and a
// number that cannot be computed is absent with a warning beside it, never 0.
package report
