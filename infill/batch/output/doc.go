// Package output writes files of records. A run that was stopped can go on with them.
//
// One JSON object a line, in the order of the input, one write for each. The file only ever grows.
// A manifest beside it ("OUTPUT.manifest") says what made it.
//
// Every other form is made at the end: a table, a row for each filling, an array, lines of text, a
// compressed file. The records wait in a file beside the output ("OUTPUT.part"). When the last one
// is there, they become the output, whole or not at all. A compressed output of records has a
// self-contained frame (gzip member, zstd frame) for each 64 of them.
//
// # Resuming
//
// The manifest has a sum of the bytes on disk. Resume refuses an output whose bytes are others, and
// drops those behind the sum. Without one, as of earlier programs, it drops what is torn at the
// end: a last line without an end, a line that is not JSON. It checks every record against the
// input line that it belongs to, and goes on with the next. The manifest has to agree in everything
// that decides results. A record is a function of the input line and of what the manifest holds.
// The file in the end is therefore the one that an uninterrupted run would have written.
//
// # Shards
//
// A file can be worked on by several processes, each on a shard of it. Their outputs, one after the
// other, are the output for the whole file. The manifest of each says which shard of what file it
// is, and when it is finished what its bytes are. [Join] relies on that.
package output
