package tokenize_test

import (
	"fmt"
	"io/fs"
	"log"
	"os"
	"strings"
	"testing/fstest"

	"infill/tokenize"
)

func Example() {
	// a folder with vocab.txt or tokenizer.json
	tok, err := tokenize.Load(os.DirFS("testdata/uncased"))
	if err != nil {
		log.Fatal(err)
	}
	text := "The Café is [MASK]ing, Anna."
	e, err := tok.Encode(text)
	if err != nil {
		log.Fatal(err)
	}
	for i, span := range e.Spans {
		fmt.Printf("%4d %-7s %q\n", e.IDs[i], e.Tokens[i], text[span[0]:span[1]])
	}
	// To fill the blank, splice at its bytes; the rest of the text stays as it is.
	for i, id := range e.IDs {
		if id == tok.MaskID() {
			fmt.Println(text[:e.Spans[i][0]] + "clos" + text[e.Spans[i][1]:])
		}
	}
	// Output:
	//    2 [CLS]   ""
	//  387 the     "The"
	//  538 cafe    "Café"
	//  394 is      "is"
	//    4 [MASK]  "[MASK]"
	//  391 in      "in"
	//  559 ##g     "g"
	//   24 ,       ","
	//  532 anna    "Anna"
	//   26 .       "."
	//    3 [SEP]   ""
	// The Café is closing, Anna.
}

func ExampleTokenizer_WholeWords() {
	const pieces = "[PAD] [UNK] [CLS] [SEP] [MASK] [unused0] walk ##ing café don't 7 the"
	tok, err := tokenize.Load(vocabulary(pieces))
	if err != nil {
		log.Fatal(err)
	}
	for _, id := range tok.WholeWords() {
		fmt.Println(id, tok.Token(id))
	}
	// Output:
	// 6 walk
	// 11 the
}

// What a word is cut into depends on what stands before it.
func ExampleTokenizer_Word() {
	tok, err := tokenize.Load(vocabulary("[PAD] [UNK] [CLS] [SEP] [MASK] page in ##in ##g"))
	if err != nil {
		log.Fatal(err)
	}
	for _, at := range []tokenize.Place{tokenize.AfterSpace, tokenize.AfterLetter} {
		e, err := tok.Word("ing", at)
		if err != nil {
			log.Fatal(err)
		}
		fmt.Println(e.Tokens)
	}
	// Output:
	// [in ##g]
	// [##in ##g]
}

// Decoding makes a readable text, but not the one that was encoded.
func ExampleTokenizer_Decode() {
	tok, err := tokenize.Load(os.DirFS("testdata/uncased"))
	if err != nil {
		log.Fatal(err)
	}
	e, err := tok.Pieces("The  Café, is   closing")
	if err != nil {
		log.Fatal(err)
	}
	fmt.Println(tok.Decode(e.IDs))
	// Output: the cafe, is closing
}

// vocabulary is the folder of a tokenizer with these pieces.
func vocabulary(pieces string) fs.FS {
	lines := strings.ReplaceAll(pieces, " ", "\n")
	return fstest.MapFS{"vocab.txt": {Data: []byte(lines)}}
}
