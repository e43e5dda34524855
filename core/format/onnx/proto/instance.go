package proto

import (
	"strconv"
	"strings"
)

// Instance is a node as it is lowered: once where a graph is, and once more for each call of the function and each trip
// of the unrolled loop that it stands in.
type Instance struct {
	*Node            // as the file has it, or as an expansion made it
	In, Out []string // its names among those of all instances of the model
	Frame   Frame
}

// Frame is the graph, call, branch or trip in which the names of instances are looked up.
type Frame interface {
	// Own returns the name among those of all instances that one of the frame's own values has. Names of the main graph
	// stay as they are.
	Own(name string) string
	// Resolve returns the name among those of all instances of what a name stands for in the frame.
	Resolve(name string) string
	// Around returns the frame whose names are visible as well, nil for the main graph and for calls.
	Around() Frame
	// Declared returns the type that the file declares for a value of the frame, nil for none.
	Declared(name string) *ValueInfo
	// Version returns the opset version of ai.onnx.
	Version() int64
	// Expanded reports whether the frame is a call, branch or trip, whose instances become part of a graph around them.
	Expanded() bool
}

// inner separates a name of the file from the number of a frame.
const inner = "\x00"

// Inner returns the name that a value of a frame has among those of all instances. Frame 0 is that of the main graph,
// whose names stay as they are unless they could be taken for others.
func Inner(name string, frame int) string {
	if frame == 0 && !strings.Contains(name, inner) {
		return name
	}
	return name + inner + strconv.Itoa(frame)
}

// IsInner reports whether a name is not one of the main graph.
func IsInner(name string) bool { return strings.Contains(name, inner) }

// Shown returns the name that the file has for a value, as messages and graphs have it.
func Shown(name string) string {
	if i := strings.LastIndex(name, inner); i >= 0 {
		return name[:i]
	}
	return name
}
