package numerics

import (
	"github.com/anynpu/anynpu/conformance/onnx/forms"
	"github.com/anynpu/anynpu/conformance/onnx/imports"
)

var formCases, importCases = opened(forms.Archive), opened(imports.Archive)

// graphForms computes the models of conformance/onnx/forms.
func graphForms() *group {
	return archivedCases(newGroup("forms", "graphs with the form of a function and graphs that nearly have it, sizes "+
		"around blocks, axes at every rank, bodies and functions"), formCases)
}

// rareForms computes the models of conformance/onnx/imports.
func rareForms() *group {
	return archivedCases(newGroup("imports", "n-grams, every activation of recurrent layers, bodies and functions with "+
		"little in them, cells that nothing reaches, and words and counts that a node does not take"), importCases)
}
