package onnxgrad

// family is a file of records.
type family struct {
	name    string
	records []operator
}

func families() []family {
	return []family{
		{"arithmetic", arithmeticOps()},
		{"functions", functionOps()},
		{"operations of the runtime that are several at once", wholeOps()},
		{"logic and types", logicOps()},
		{"reductions", reductionOps()},
		{"products", productOps()},
		{"convolution", convolutionOps()},
		{"layout", layoutOps()},
		{"parts", partOps()},
		{"lookups", lookupOps()},
		{"constants and sizes", sizeOps()},
		{"norms", normOps()},
		{"attention", attentionOps()},
	}
}

func init() { // the rules refer to the table through the builder
	operators = map[string]*operator{}
	for _, family := range families() {
		for i := range family.records {
			o := &family.records[i]
			operators[o.name] = o
		}
	}
}
