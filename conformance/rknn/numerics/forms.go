package numerics

import "github.com/anynpu/anynpu/conformance/onnx/forms"

var formCases = opened(forms.Archive)

// graphForms computes the models of conformance/onnx/forms.
func graphForms() *group {
	return archivedCases(newGroup("forms", "graphs with the form of a function and graphs that nearly have it, sizes "+
		"around blocks, axes at every rank, bodies and functions"), formCases)
}
