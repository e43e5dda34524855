// Package record keeps a process's calls for a report: the library writes it while the program runs, `anynpu exec
// --report` reads it afterwards. Nothing has to happen at the program's end, so that a program that crashes or is
// killed leaves its record too.
//
// A record is two files in one folder. NAME.counts holds numbers of 64 bits, which the library maps into memory: the
// calls of each function, those of them that were refused, how often each distinct event happened, the runs of each
// graph, and how many events could not be written. NAME.events has a JSON object per line, an Event, written when it
// happens first.
package record

// How many distinct events and graphs a record holds. Later ones are not recorded.
const (
	maxEvents = 1024
	maxGraphs = 256
)

// An Event is one line of a record. Kind says which of the other fields count.
type Event struct {
	Kind string `json:"kind"`
	// Slot is where the number of such events is counted, or, of a graph, the times of its runs.
	Slot int `json:"slot"`

	// start: the first line.
	PID       int      `json:"pid,omitempty"`
	Began     int64    `json:"began,omitempty"` // nanoseconds since 1970
	Program   []string `json:"program,omitempty"`
	Functions []string `json:"functions,omitempty"`

	// refused: a call that failed. message: a line of the log. timed: a function whose times are counted.
	Function  string `json:"function,omitempty"`
	Level     string `json:"level,omitempty"`
	Component string `json:"component,omitempty"`
	Text      string `json:"text,omitempty"` // of a message with its id at the end
	ID        string `json:"id,omitempty"`   // of the sentence of a refused call

	Model *Model `json:"model,omitempty"` // model: one that was loaded
	Graph *Graph `json:"graph,omitempty"` // graph: one that was compiled and gets an execution
	Left  *Left  `json:"left,omitempty"`  // end: the program has ended by itself
}

// A Model is a model as it was loaded.
type Model struct {
	Name    string   `json:"name"`              // of the file, or of bytes their graph and digits of their SHA-256
	Bytes   int64    `json:"bytes"`             // of what the program handed over
	Instead string   `json:"instead,omitempty"` // what the program handed over, where another file was read
	Targets []string `json:"targets,omitempty"` // the boards that a compiled model, for which the file was read, is for
	Map     string   `json:"map,omitempty"`     // ANYNPU_MODEL_MAP, where that named the file
}

// A Graph is a compiled model, or a product of matrices that no model holds.
type Graph struct {
	Name    string    `json:"name"` // of a product its API's word for the types
	Product Product   `json:"product,omitzero"`
	Devices []Device  `json:"devices"`
	Refused []Refusal `json:"refused,omitempty"`
}

// A Product is one of matrices: A of M x K times B of K x N.
type Product struct {
	M     int64     `json:"m"`
	K     int64     `json:"k"`
	N     int64     `json:"n"`
	Types [3]string `json:"types"` // of A, B and C
	AC    string    `json:"ac"`    // the layout of A and C
	B     string    `json:"b"`     // that of B
}

// A Device computes a number of operators.
type Device struct {
	Name      string `json:"name"`
	Operators int    `json:"operators"`
}

// A Refusal is why operators of one kind are not computed by a device that stands before the one that computes them.
type Refusal struct {
	Operator string `json:"operator"`
	Device   string `json:"device"`
	Reason   string `json:"reason"`
}

// Left counts the objects that the program had not freed when it ended.
type Left struct {
	Objects []string `json:"objects"` // "rknn.Context 1"
	Buffers int64    `json:"buffers"` // of tensors, weights and working space
	Bytes   int64    `json:"bytes"`
}

// Indices of a graph's numbers; times are nanoseconds.
const (
	runs = iota
	failed
	total
	least
	most
	perGraph
)

// beforeTimes is how many numbers stand between those of all functions and the times.
const beforeTimes = maxEvents + maxGraphs*perGraph

// words is the length of a file of counts: calls and refusals of each function, events, graphs, times of functions, the
// time of conversions, and the events that are lost.
func words(functions int) int { return 2*functions + beforeTimes + maxTimed*perTimed + 2 }
