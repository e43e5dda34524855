package numerics

import (
	"github.com/anynpu/anynpu/conformance/onnx/forms"
	"github.com/anynpu/anynpu/conformance/onnx/imports"
	"github.com/anynpu/anynpu/conformance/onnx/microsoft"
	"github.com/anynpu/anynpu/conformance/onnx/opsets"
)

var formCases, importCases = opened(forms.Archive), opened(imports.Archive)

var opsetCases, microsoftCases = opened(opsets.Archive), opened(microsoft.Archive)

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

// opsetForms computes the models of conformance/onnx/opsets.
func opsetForms() *group {
	return archivedCases(newGroup("opsets", "operators as opsets 24 to 28 and 1 to 6 define them"), opsetCases)
}

// microsoftForms computes the models of conformance/onnx/microsoft.
func microsoftForms() *group {
	return archivedCases(newGroup("microsoft", "operators of com.microsoft, and networks of which they are part"),
		microsoftCases)
}
