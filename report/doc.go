// Package report has the rooms in which generated sentences become numbers that one can compare,
// and pictures worth looking at. It holds the tests that go through all of them.
//
// [infill/report/read] reads sentences, references and texts to fill. [infill/report/measure]
// measures them: files of sentences (Eval), several samplers that were run on the same sentences
// (Prepare), or words that were filled again (Cloze). [infill/report/show] writes what was found,
// with the charts of [infill/report/draw].
package report
