// Package browser tests the page of infill serve in a real browser. It is a module of its own, so
// that programs that use infill do not get its dependency.
//
//	go test .            runs the tests, or skips them where there is no chromium
//	go test . -update    also writes the picture in README
//
// Pictures of the page, dark and narrow ones too, go to bin/screenshots of the repository, for
// people to look at.
package browser
