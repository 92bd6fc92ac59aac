package report

// A document is a result as every writer has it.
type document struct {
	opening     []string // what a terminal has above the tables
	Title, Lede string
	Facts       [][2]string
	Tables      []*table
	gold        *Metric // of the original sentences
	Figures     figures // of a page
	Examples    []example

	References, Notes, Warnings []string
	Signatures                  []signed
	Version                     string // of the program
}
