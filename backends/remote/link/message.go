// Package link has the messages of a process and its helper program for remote devices, anynpu-remote: JSON over a Unix
// socket, runs in a binary form, and descriptors of the shared memory in which tensors lie. The helper has the network's
// code, so that a process without a remote device carries none of it.
package link

import "github.com/anynpu/anynpu/core/tensor"

// HelperName is the file name of the helper program.
const HelperName = "anynpu-remote"

// SocketFD is the helper's descriptor of the socket.
const SocketFD = 3

// Request asks the helper for something. Each but Cancel, Region and Drop gets one Answer with its Call.
type Request struct {
	Call   uint64   `json:"call"`
	Do     Verb     `json:"do"`
	Device []byte   `json:"device,omitempty"` // Open: the manifest's dl.Remote
	Model  Model    `json:"model,omitzero"`   // Describe, Infer, Load
	LeftMS float64  `json:"left_ms,omitempty"`
	In     []Tensor `json:"in,omitempty"`
	Out    []Place  `json:"out,omitempty"`
	Region Extent   `json:"region,omitzero"` // Region, with its descriptor; Drop
	Target *uint64  `json:"target,omitempty"`
	Repeat bool     `json:"repeat,omitempty"`
	Load   *Loaded  `json:"load,omitempty"` // Load
}

// Verb names a request.
type Verb string

// The verbs.
const (
	Open     Verb = "open"     // the first: which servers
	Describe Verb = "describe" // a model's metadata
	Infer    Verb = "infer"    // a run
	Load     Verb = "load"     // has every address load a model that it lacks, as Triton's repositories do
	Cancel   Verb = "cancel"   // gives the call Target up; its answer comes soon
	Region   Verb = "region"   // shared memory, with its descriptor
	Drop     Verb = "drop"     // of shared memory; no call that uses it is under way
	State    Verb = "state"    // of the addresses
	Probe    Verb = "probe"    // asks every address for its server and models, then as State
)

// Loaded is a model that servers are to load.
type Loaded struct {
	Config string `json:"config"` // as JSON
	Files  []File `json:"files"`
}

// File is one of the files of a model: Size bytes at Off of a region.
type File struct {
	Path   string `json:"path"` // VERSION/NAME
	Region uint64 `json:"region"`
	Off    int64  `json:"off"`
	Size   int64  `json:"size"`
}

// Offer is the outcome of a model at an address.
type Offer struct {
	Address string   `json:"address"`       // that takes models
	Had     bool     `json:"had,omitempty"` // the server has the model, nothing was sent
	Sent    int64    `json:"sent,omitempty"`
	TookMS  float64  `json:"took_ms,omitempty"`
	Failure *Failure `json:"failure,omitempty"`
}

// Model names a model of the server.
type Model struct {
	Name    string `json:"name"`
	Version string `json:"version,omitempty"`
}

// Extent is a piece of shared memory.
type Extent struct {
	ID   uint64 `json:"id"`
	Size int64  `json:"size,omitempty"`
}

// Place is where an output belongs: Room bytes at Off of a region. Without Room it comes in memory of the helper.
type Place struct {
	Name   string       `json:"name"`
	Type   tensor.DType `json:"type"`
	Region uint64       `json:"region,omitempty"`
	Off    int64        `json:"off,omitempty"`
	Room   int64        `json:"room,omitempty"`
	// Shape is the shape that the output must have, -1 as any size.
	Shape []int64 `json:"shape"`
}

// Tensor is an input: Size bytes at Off of a region, as the protocol's raw contents.
type Tensor struct {
	Name   string       `json:"name"`
	Type   tensor.DType `json:"type"`
	Shape  []int64      `json:"shape"`
	Region uint64       `json:"region"`
	Off    int64        `json:"off"`
	Size   int64        `json:"size"`
}

// Answer is the result of a request.
type Answer struct {
	Call     uint64    `json:"call"`
	Failure  *Failure  `json:"failure,omitempty"`
	Metadata *Metadata `json:"metadata,omitempty"`
	Offers   []Offer   `json:"offers,omitempty"` // Load
	Out      []Result  `json:"out,omitempty"`
	Done     *Done     `json:"done,omitempty"`
	State    []Address `json:"state,omitempty"`
	Spill    int64     `json:"spill,omitempty"` // bytes of the memory whose descriptor comes along, 0: none
	Notes    []string  `json:"notes,omitempty"` // for the log: how addresses changed meanwhile
}

// Failure is why something failed.
type Failure struct {
	Class   Class  `json:"class"`
	Text    string `json:"text"`              // one line
	Address string `json:"address,omitempty"` // that said so
	Lacking bool   `json:"lacking,omitempty"` // of a run: an address said that it has no such model
}

// Class is the kind of a failure.
type Class string

// The classes.
const (
	Down     Class = "down"     // no server there, or it went away: nothing answers
	Busy     Class = "busy"     // it has too much to do
	Missing  Class = "missing"  // it has no such model or version
	Refused  Class = "refused"  // it does not take these tensors
	TooLarge Class = "size"     // the message is larger than it takes, or than the manifest allows
	Denied   Class = "denied"   // it wants another token or certificate
	Failed   Class = "failed"   // it could not compute
	Garbled  Class = "garbled"  // its answer is none
	Late     Class = "late"     // the time was over
	Stopped  Class = "stopped"  // the call was given up
	Internal Class = "internal" // the helper was asked for nonsense
)

// Metadata is a model's ports, as the server has them.
type Metadata struct {
	Inputs  []Port `json:"inputs"`
	Outputs []Port `json:"outputs"`
	Address string `json:"address"`
}

// Port is an input or output of a model; -1 in Shape is a size that is open.
type Port struct {
	Name     string       `json:"name"`
	Datatype string       `json:"datatype"`       // the protocol's word
	Type     tensor.DType `json:"type,omitempty"` // that it stands for, tensor.Invalid: none
	Shape    []int64      `json:"shape"`
}

// Result is where an output is: Size bytes from Off of the region that its Place names, or of the spill.
type Result struct {
	Shape []int64 `json:"shape"`
	Off   int64   `json:"off"`
	Size  int64   `json:"size"`
	Spill bool    `json:"spill,omitempty"`
}

// Done tells of a run that was computed.
type Done struct {
	Address  string  `json:"address"`
	Attempts int     `json:"attempts"`
	Sent     int64   `json:"sent"` // bytes
	Received int64   `json:"received"`
	TookMS   float64 `json:"took_ms"`
	Lacking  bool    `json:"lacking,omitempty"` // another address said that it has no such model
}

// Address is the state of one of the servers.
type Address struct {
	Address   string   `json:"address"`
	State     string   `json:"state"` // ready, resting, untried
	Why       string   `json:"why,omitempty"`
	Runs      int64    `json:"runs"`
	Failures  int64    `json:"failures"`
	Sent      int64    `json:"sent"`
	Received  int64    `json:"received"`
	TookMS    float64  `json:"took_ms"`
	Timed     int64    `json:"timed,omitempty"` // runs of which the server told the times, in all:
	QueueMS   float64  `json:"queue_ms,omitempty"`
	ComputeMS float64  `json:"compute_ms,omitempty"`
	LatencyMS float64  `json:"latency_ms,omitempty"` // Probe: of the smallest call
	Server    string   `json:"server,omitempty"`     // Probe: name and version
	Extension []string `json:"extensions,omitempty"`
	Models    []string `json:"models,omitempty"` // Probe: those of the manifest, and the state of each
	// Probe: of the manifest's models, by all clients since the server began; nil: it does not tell
	Statistics *Statistics `json:"statistics,omitempty"`
}

// Statistics are a server's counts: runs, and how long they waited and were computed in all.
type Statistics struct {
	Runs      int64   `json:"runs"`
	QueueMS   float64 `json:"queue_ms"`
	ComputeMS float64 `json:"compute_ms"`
}

// Plus adds two counts, of which the first may be nil.
func (s *Statistics) Plus(o *Statistics) *Statistics {
	if s == nil {
		return o
	}
	return &Statistics{s.Runs + o.Runs, s.QueueMS + o.QueueMS, s.ComputeMS + o.ComputeMS}
}
