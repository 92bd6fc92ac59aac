package torch

import (
	"fmt"
	"strconv"
	"strings"
)

// sentences are the texts of the grid by their number of words. A number in
// braces after a word says that it is blank in the cells with at least that
// many blanks. Punctuation counts as no word.
var sentences = map[int][]string{
	10: {
		"the old{5} man{1} sat{3} down{6} on{7} the bed{2} and{8} slept{4} .",
		"she{8} opened{3} the door{1} and{6} walked{5} into{7} the dark{4} room{2} .",
	},
	25: {
		"on the first{7} day of summer{5} the children{1} ran down to the river{2} with their dog{3} " +
			"and played{6} in the water{8} until it was dark{4} .",
		"the young{5} woman put{7} the letter{1} back into her bag{6} , paid for the coffee{3} , and " +
			"went out into the street{2} without another word{4} to him{8} .",
	},
	60: {
		"when the train{5} came into the station{1} at last the old teacher took{6} his small brown " +
			"case from the seat , looked once more at the picture{2} of his wife , and stepped{7} down " +
			"into the cold{3} morning air , where a boy with a lamp was waiting to lead{8} him through " +
			"the empty streets to the house{4} where his brother had lived .",
		"my father never spoke{5} about the war{1} , but every year in the spring{6} he would walk " +
			"to the hill behind our farm{7} , sit under the great tree{2} that his own father had " +
			"planted , and look out over the valley{3} until the sun{8} went down , and when he came " +
			"home{4} we knew that it was better not to ask him anything .",
	},
}

// blanked writes a sentence of the grid with this many blanks.
func blanked(sentence string, blanks int) string {
	words := strings.Fields(sentence)
	for i, w := range words {
		word, rank, marked := strings.Cut(strings.TrimSuffix(w, "}"), "{")
		if n, err := strconv.Atoi(rank); marked && err == nil && n <= blanks {
			word = "[MASK]"
		}
		words[i] = word
	}
	return strings.Join(words, " ")
}

// A cell is one measurement of the grid.
type cell struct {
	Model  string `json:"model"` // one of recordedModels
	Words  int    `json:"words"`
	Blanks int    `json:"blanks"`
}

func (c cell) String() string { return fmt.Sprintf("%s/%d/%d", c.Model, c.Words, c.Blanks) }

func parseCell(s string) (cell, error) {
	for _, c := range grid() {
		if c.String() == s {
			return c, nil
		}
	}
	return cell{}, fmt.Errorf("there is no cell %q; cells are MODEL/WORDS/BLANKS with MODEL "+
		"%s, WORDS 10, 25 or 60, BLANKS 2, 4 or 8", s, strings.Join(measuredModels, " or "))
}

// measuredModels are the models of new measurements: the program's model small, and one of
// BERT-base's size with random weights. recordedModels are those that the page may have, in its
// order. The repository has the weights of the 2×256 model in its history only.
var (
	measuredModels = []string{"small", "base"}
	recordedModels = append([]string{"2x256"}, measuredModels...)
)

// modelName is what the page calls a model.
func modelName(m string) string {
	switch m {
	case "base":
		return "BERT-base size, fp32"
	case "2x256":
		return "2×256 model"
	}
	return "model " + m
}

// grid lists all cells that can be measured.
func grid() []cell { return cellsOf(measuredModels) }

// recorded lists all cells that the page may have, in its order.
func recorded() []cell { return cellsOf(recordedModels) }

func cellsOf(models []string) []cell {
	var out []cell
	for _, m := range models {
		for _, w := range []int{10, 25, 60} {
			for _, b := range []int{2, 4, 8} {
				out = append(out, cell{m, w, b})
			}
		}
	}
	return out
}

// quick lists the cells of a quick run.
func quick() []cell { return []cell{{"small", 25, 4}, {"base", 25, 4}} }

// chains is how many chains a cell has: the command's default, or as many as
// PyTorch steps in a few seconds.
func (c cell) chains() int {
	if c.Model == "base" {
		return 8
	}
	return 25
}

// patience is how much longer than others the cell's slots are.
func (c cell) patience() float64 {
	if c.Model == "base" {
		return 1.5
	}
	return 1
}

// rounds is how many of n rounds the cell gets: PyTorch's steps of the large
// model take up to half a minute.
func (c cell) rounds(n int) int {
	if c.Model == "base" {
		return (3*n + 4) / 5
	}
	return n
}

// texts are the sentences of the cell. A random model does not read them, so
// that one is enough.
func (c cell) texts() []string {
	all := sentences[c.Words]
	if c.Model == "base" {
		all = all[:1]
	}
	var out []string
	for _, s := range all {
		out = append(out, blanked(s, c.Blanks))
	}
	return out
}

// adaptOn is the text on which the step size is adapted; "" for each sentence
// itself.
func (c cell) adaptOn() string {
	if c.Model == "base" {
		return blanked(sentences[10][0], c.Blanks)
	}
	return ""
}
