package export

// BaseOpset is the lowest opset version that is written.
const BaseOpset = 21

// DefaultExternal is the size of all constants above which WriteFile puts them into a file beside the model: a protobuf
// message ends at 2 GiB.
const DefaultExternal = 1 << 30

// Options govern an export.
type Options struct {
	// Symbols names open dimensions: Sym k of a dimension is Symbols[k-1].
	Symbols []string
	// Metadata is added to that of the graph, and wins.
	Metadata map[string]string
	// QuantizeLinear has results quantized by QuantizeLinear: halves become even.
	QuantizeLinear bool
	// Foreign writes a node that ONNX cannot express as one of the domain anynpu with core's name and attributes, for
	// those who want to look at the graph: no runtime computes it.
	Foreign bool
	// ReadInputs leaves out inputs that no node of the model reads, as where a size is known: OpenVINO takes another input
	// for the next one. They have no name in Model.In.
	ReadInputs bool
	// OwnConstants gives each node outside of bodies its own copy of a constant that others read, too: OpenVINO changes
	// some for all that read them.
	OwnConstants bool
	// External is the size of all constants above which they go to a file of their own; 0: DefaultExternal.
	External int64
}

// Model is a graph as ONNX.
type Model struct {
	Opset   int64 // of ai.onnx
	In, Out []string
	Nodes   int // of the model, those of bodies included
	// Owner is, for each node of the main graph by its name, the node of the exported graph that it computes, or a part of
	Owner map[string]int

	name      string
	head      message // of ModelProto, before the graph
	graph     message // of GraphProto, without the constants
	tail      message // of ModelProto, after the graph
	constants []constant
	external  int64
}

// constant is an initializer of the main graph.
type constant struct {
	name string
	typ  int64
	dims []int64
	data []byte
}
