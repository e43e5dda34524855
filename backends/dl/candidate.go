package dl

import (
	"strconv"
	"time"
)

// Status is the state of a candidate.
type Status string

// The statuses.
const (
	Usable  Status = "usable"  // nothing is known against it
	Skipped Status = "skipped" // its manifest is not for here, or is switched off
	Refused Status = "refused" // the reason says what is wrong
)

// A Candidate is a driver that something names.
type Candidate struct {
	Source string `json:"source"` // the manifest, or the variable that names the file
	Name   string `json:"name"`
	API    string `json:"api"` // "" where the manifest cannot be read
	Path   string `json:"path"`
	File   string `json:"file"` // behind all links; "" if it may not be opened
	Mode   Mode   `json:"mode"`
	Status Status `json:"status"`
	Reason string `json:"reason"` // of Skipped and Refused: names key and value
	// Table says that the functions are in the API's table, as far as that was tried: calls do not go to the driver.
	Table bool `json:"table"`
	// Remote are servers in place of a driver, of API RemoteAPI: Path has their addresses, and there is no file.
	Remote *Remote `json:"-"`
	// Devices lists the providers that the manifest of a library of ONNX Runtime names; another API has none.
	Devices []Device `json:"devices,omitempty"`

	id    Identity
	named bool // by a variable
}

// Options hold the inputs of the search.
type Options struct {
	Getenv  func(name string) string // "" for everything in a set-id program
	Folders []string                 // of the machine, SystemFolders by default
	Version string                   // of this library
	Helper  func() string            // finds the program that opens new files first, "" if it is not there
	Run     Runner                   // how it is started
	Again   bool                     // kept verdicts do not count
}

// A Setting says where the calls of an API go.
type Setting string

// The settings.
const (
	Auto     Setting = "auto"   // what the driver's manifest says
	ToDriver Setting = "driver" // to the driver, if there is one
	ToDevice Setting = "device" // here, and the driver computes
	ToCPU    Setting = "cpu"    // here, and no driver is looked for
)

// Mode is the use of a driver.
type Mode string

// The modes.
const (
	ModeDriver Mode = "driver" // takes the calls of its own API
	ModeDevice Mode = "device" // computes for objects of this library
)

// A Manifest is a JSON file that names a driver; docs/drivers.md describes it.
type Manifest struct {
	File        string // where it was read
	Name        string
	API         string
	Library     string // absolute path of the driver's file
	Mode        Mode   // ModeDriver where it says nothing
	Least       string // the first version of this library that it is for, "": any
	Below       string // the first that it is not for any more, "": none
	Environment map[string]string
	Remote      *Remote  // servers in place of a driver; nil: a driver
	Devices     []Device // of a library of ONNX Runtime
}

// short quotes a value for a message.
func short(value string) string {
	const most = 80
	if len(value) > most {
		value = value[:most] + "..."
	}
	return strconv.Quote(value)
}

// A Device is an execution provider of ONNX Runtime that a manifest has as a device.
type Device struct {
	ID       string            `json:"id"` // "onnxruntime", "onnxruntime2", ... as manifests name them
	Provider string            `json:"provider"`
	Plugin   string            `json:"plugin,omitempty"` // absolute path, "": the provider is in the library
	Kind     string            `json:"kind,omitempty"`   // "cpu", "gpu", "accelerator"; "": another
	Vendor   string            `json:"vendor,omitempty"`
	Options  map[string]string `json:"options,omitempty"`
	File     string            `json:"file,omitempty"`   // of the plug-in, behind all links
	Reason   string            `json:"reason,omitempty"` // why it cannot be used

	identity Identity // of the plug-in
}

// Remote is a device that servers compute for; docs/remote.md describes its manifest. The JSON form is the manifest's.
type Remote struct {
	Name      string   `json:"name"`
	Addresses []string `json:"addresses"`        // grpc://, grpcs://, http:// or https://, HOST:PORT
	Choice    string   `json:"choice,omitempty"` // order or round-robin
	// Model and Version stand for every graph that Models has no entry for; "" for none.
	Model   string        `json:"model,omitempty"`
	Version string        `json:"version,omitempty"`
	Models  []RemoteModel `json:"models,omitempty"`

	DeadlineMS  int64             `json:"deadline_ms,omitempty"`     // of a run, repetition and all
	Connections int               `json:"connections,omitempty"`     // for each address
	Largest     int64             `json:"largest_message,omitempty"` // bytes
	Headers     map[string]string `json:"headers,omitempty"`         // of every request
	TLS         RemoteTLS         `json:"tls,omitzero"`
	Token       RemoteToken       `json:"token,omitzero"`
	Fallback    string            `json:"fallback,omitempty"` // cpu or off
	// SharedMemory has servers of this machine read and write tensors in shared memory.
	SharedMemory bool `json:"shared_memory,omitempty"`
	// Upload has servers load models that they do not have; nil: no model leaves this machine.
	Upload *RemoteUpload `json:"upload,omitempty"`
}

// RemoteModel is the server's model for some graphs: all that are named must be the graph's.
type RemoteModel struct {
	Name    string `json:"name,omitempty"`   // of the graph: anynpu.name, the file's or the model's
	SHA256  string `json:"sha256,omitempty"` // of the graph's operators and constants, as the log has it
	Model   string `json:"model"`
	Version string `json:"version,omitempty"`
}

// RemoteUpload is how servers get models, by Triton's extension of the protocol for repositories.
type RemoteUpload struct {
	Backend    string   `json:"backend"`               // triton or triton-python, as of anynpu export --serve
	Addresses  []string `json:"addresses,omitempty"`   // http:// or https://, for each of Remote.Addresses; nil: those
	DeadlineMS int64    `json:"deadline_ms,omitempty"` // of sending and loading
}

// RemoteTLS are files for grpcs and https.
type RemoteTLS struct {
	CA          string `json:"ca,omitempty"` // certificates that are trusted in place of the system's
	Certificate string `json:"certificate,omitempty"`
	Key         string `json:"key,omitempty"`
	Server      string `json:"server_name,omitempty"`
}

// RemoteToken is where a bearer token is.
type RemoteToken struct {
	File     string `json:"file,omitempty"`
	Variable string `json:"variable,omitempty"`
}

// An Outcome is how the helper ended.
type Outcome struct {
	Exit     int    // its exit code, -1 if it has none
	Signal   int    // that ended it, 0: none
	TimedOut bool   // it was killed when its time was over
	Output   string // what it wrote to descriptor 3
}

// A Runner starts a program with an absolute path as its first word, environment added to that of the process, and
// waits for its end, at most limit. An error means that it was not started.
type Runner func(argv, environment []string, limit time.Duration) (Outcome, error)

// Identity tells one state of a file from every other.
type Identity struct {
	Device   uint64 `json:"device"`
	Inode    uint64 `json:"inode"`
	Size     int64  `json:"size"`
	Modified int64  `json:"modified"` // ns since 1970
}
