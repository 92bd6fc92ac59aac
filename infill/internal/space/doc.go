// Package space has the states of a template: which tokens may stand in each blank, which
// constraints take states away, and the sequence that a state makes for a model. It draws and finds
// states that the constraints allow. It asks no model.
package space
