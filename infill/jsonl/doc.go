// Package jsonl is the wire format of infill: one JSON object on every line.
//
// A [Record] is the outcome of one text: [Filled], [Scored], [Ranked] or [Failed].
// Infill's commands print records, a batch file holds them, and reports read them
// back. [Append] and [Write] encode a record, [Decoder.Record] reads one.
//
// An [Input] is a line that asks for work: a text, maybe an id, and other
// fields. [Decoder.Input] reads one. A [Step] is a line of a trace.
//
// # Encoding
//
// The members of an object always have one order, that of the struct's fields. A
// member without a value is left out. Text is UTF-8 and stays readable: < is written as <. The
// fields of the user's line follow at the end, in their order and with their
// spelling. Those whose names the record uses itself, such as score, stand in one
// object called input_fields. One record always has the same bytes.
//
// # Decoding
//
// Decoding is strict and bounded. A line has to be one JSON object in UTF-8 with nothing after it.
// Two members must not have the same name, and a member that a record uses must have its type. The
// objects inside a record, such as its fillings, have no members but those that Append writes. A
// [Decoder] bounds the length of a line, the depth of nesting and the number of fillings. What is
// wrong is an [*Error] with the line and the path of the field. Encoding what was decoded gives the
// same bytes for every line that [Append] wrote.
package jsonl
