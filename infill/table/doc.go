// Package table reads and writes tables: CSV, TSV, Parquet, and arrays of JSON.
//
// # Reading
//
// [CSV] reads rows of cells as RFC 4180 describes them, byte for byte and in
// bounded memory. [Parquet] reads rows of a file, row group by row group. A cell comes
// in two forms: as a JSON value, and as it is stored, so that a written copy has the
// same type. [Array] reads the elements of an array of JSON.
//
// # Writing
//
// [NewWriter] writes rows under the names and types of [Column]. A type is a text, a number, a
// truth value, JSON, or a list or structure of those. Parquet has columns of exactly these types.
// CSV and JSON have lists and structures as JSON. Equal rows always give equal bytes.
package table
