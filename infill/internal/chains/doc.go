// Package chains fills the blanks of a template by chains of states.
package chains
