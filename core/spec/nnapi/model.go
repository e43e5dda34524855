// Package nnapi holds what the documents of Android's Neural Networks API say about models: codes of operands and
// operations, their signatures per feature level, and a model as a program describes it. The façade that serves
// programs and the device that drives a vendor's library both build on it.
//
// Sources: NeuralNetworksTypes.h and NeuralNetworks.h of AOSP's packages/modules/NeuralNetworks.
package nnapi

// OperandCode is the type of an operand: ANEURALNETWORKS_FLOAT32 and so on, or an extension's type, whose upper 16
// bits are the extension's prefix.
type OperandCode int32

// OperationCode is an operation: ANEURALNETWORKS_ADD and so on, or an extension's, as with OperandCode.
type OperationCode int32

// Lifetime says where the value of an operand comes from, and where it goes.
type Lifetime uint8

// Lifetimes.
const (
	Temporary Lifetime = iota // an operation's result that is no model output
	Input                     // a model input
	Output                    // a model output; other operations may read it too
	Constant                  // Data
	NoValue                   // an optional argument that the model leaves out
	Subgraph                  // Sub
)

// PerChannel holds the scales of a TENSOR_QUANT8_SYMM_PER_CHANNEL operand: one for each index of dimension Dim.
type PerChannel struct {
	Dim    uint32
	Scales []float32
}

// Operand is one operand of a model.
type Operand struct {
	Type      OperandCode
	Dims      []uint32 // nil: a scalar, or a tensor of unspecified rank; a dimension of 0 is unspecified
	Scale     float32
	ZeroPoint int32
	Channel   *PerChannel // nil: none were set
	Lifetime  Lifetime
	Data      []byte // of a Constant: dense, row-major, native byte order; booleans are 0 or 1
	Sub       *Model // of a Subgraph: a finished model
	Extension []byte // what Model_setOperandExtensionData gave
}

// Operation is one operation of a model. Its operands are indices into Model.Operands.
type Operation struct {
	Code    OperationCode
	Inputs  []uint32
	Outputs []uint32
}

// Model is a model in the order in which the program described it.
type Model struct {
	Operands   []Operand
	Operations []Operation
	Inputs     []uint32 // operands in the order of an execution's input indices
	Outputs    []uint32 // operands in the order of an execution's output indices
	Relaxed    bool     // float32 may be computed with the range and precision of float16
}
