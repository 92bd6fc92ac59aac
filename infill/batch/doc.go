// Package batch works through a file record by record: read, process many at
// once, write in the order of the input, and, after whatever ended it, go on
// where it stopped.
//
// # Input
//
// Lines of text or JSON lines, plain, gzip or zstd (the bytes say which).
// A line of text is a record without its line end (\n or \r\n); empty lines are
// passed over. A JSON line is an object with a string "text", maybe an "id" (a
// string or a number), and any other fields, which the caller gets in order.
//
// # Output
//
// One JSON object a line, in the order of the input, one write for each. The
// file only ever grows; a manifest beside it ("OUTPUT.manifest") says what made
// it. A compressed output grows by a self-contained frame (gzip member, zstd
// frame) of FrameRecords records at a time, so that its bytes, too, depend on
// the records alone.
//
// # Resuming
//
// Resume reads the output, drops what is torn at its end (a last line without
// an end, or that is no JSON; a frame that is not whole), checks every record
// against the input line it belongs to, and goes on with the next. The manifest
// has to agree in everything that decides results. As a record is a function of
// the input line and of what the manifest holds, the file in the end is the one
// an uninterrupted run would have written.
package batch
