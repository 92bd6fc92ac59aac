// Package input reads files of records.
//
// Lines of text, JSON lines or an array of JSON, plain, gzip or zstd. The first bytes say which. A
// line of text is a record without its line end (\n or \r\n). Lines of white space
// are passed over. Package jsonl says what a JSON line is. The caller gets its
// fields in order. A table, which package table reads, has a record in each row.
//
// A file can be read by several processes, each a shard of it. Every record is in exactly one.
package input
