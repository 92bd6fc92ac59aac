// Package pipeline fills a file of sentences on any runner of Apache Beam. It writes the same
// records as infill batch, byte for byte, in the order of the input.
//
// A [Job] says what is read, how it is filled and where it goes. [Job.Check] finds what is wrong
// with it before anything runs, [Job.Clear] removes earlier output, and [Job.Build] puts it into a
// pipeline:
//
//	Read    the file in one pass, as chunks of numbered lines
//	Fill    chunks, in any order, on any worker: records, and apart those of lines that failed
//	Write   files of records in the order of the input
//
// [Read], [Fill] and [Write] are there for pipelines of other shapes.
//
// A chunk is the unit of work and of retrying. The record of a line depends on the line, its number
// and the settings alone, so that a chunk that is done twice gives the same bytes. A worker process
// opens the model once, for all bundles that it gets, and fills the lines of a chunk at the same
// time.
package pipeline
