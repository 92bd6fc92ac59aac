package main

// The groups of flags. Settings have those for words and for what is printed themselves.
const (
	fillingGroup   = "filling"
	measuringGroup = "measuring"
	servingGroup   = "serving"
	printingGroup  = "results"
	modelGroup     = "model"
)

// headings are the groups in the order of help. Commands with few flags have no groups.
var headings = [][2]string{
	{fillingGroup, "How blanks are filled"},
	{"words", "What may go into blanks"},
	{measuringGroup, "What is measured"},
	{servingGroup, "Who is answered, and how much"},
	{printingGroup, "What is printed, and where"},
	{modelGroup, "The model"},
	{"", "Flags"},
}
