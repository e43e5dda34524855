package proto

// Name is the name of a value among those of all instances of a model: its name in the file, and the number of the
// frame whose own it is, 0 for the main graph. The zero Name is no value.
type Name struct {
	Text  string
	Frame int
}

// Instance is a node as it is lowered: once where a graph is, and once more for each call of the function and each trip
// of the unrolled loop that it stands in.
type Instance struct {
	*Node          // as the file has it, or as an expansion made it
	In, Out []Name // its names among those of all instances of the model
	Frame   Frame
}

// Frame is the graph, call, branch or trip in which the names of instances are looked up.
type Frame interface {
	// Own returns the name of one of the frame's own values.
	Own(name string) Name
	// Resolve returns the name of the value that a name of the file is bound to in the frame.
	Resolve(name string) Name
	// Around returns the frame whose names are visible as well, nil for the main graph and for calls.
	Around() Frame
	// Declared returns the type that the file declares for a value of the frame, nil for none.
	Declared(name string) *ValueInfo
	// Version returns the opset version of ai.onnx.
	Version() int64
	// Expanded reports whether the frame is a call, branch or trip, whose instances become part of a graph around them.
	Expanded() bool
}
