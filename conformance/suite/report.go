package suite

import (
	"encoding/json"
	"io"
	"os"
	"time"
)

// Status is the outcome of a case.
type Status string

// The outcomes.
const (
	Pass  Status = "pass"
	Fail  Status = "fail"
	Skip  Status = "skip"  // the library says that its device does not compute the operation
	Crash Status = "crash" // the process of the case died
	Hang  Status = "hang"  // the case did not end in time

	NotRun Status = "not run" // the suite had stopped before the case
)

// bad tells whether the case ran and its outcome is against the library.
func (s Status) bad() bool { return s == Fail || s == Crash || s == Hang }

// Result is the outcome of one case.
type Result struct {
	ID string `json:"id"`
	Place
	Basis
	Status  Status `json:"status"`
	Message string `json:"message,omitempty"`
	Refusal string `json:"refusal,omitempty"` // what the library said of a refusal that the case wants

	// Rounding is how the library rounds halves in a case that leaves it open.
	Rounding string `json:"rounding,omitempty"`

	// Placement is how many operations of a model each device has, where the library tells.
	Placement map[string]int `json:"placement,omitempty"`
	Refused   []string       `json:"refused,omitempty"` // with PlacementVariable: "DEVICE: REASON" of an operation

	Time time.Duration `json:"ns"`

	// Signal is what ended the process of a case that crashed, Function the API's function that was called then, or that
	// does not return. "" for none.
	Signal   string `json:"signal,omitempty"`
	Function string `json:"function,omitempty"`

	// functions of the API that the case called, where the suite records them
	Functions []string `json:"functions,omitempty"`

	// NeedsModel tells whether the case hands a model over, and Models are the names of those that it does.
	NeedsModel bool     `json:"needs_model,omitempty"`
	Models     []string `json:"models,omitempty"`
}

// schema names the form of the JSON report.
const schema = "anynpu.cts/1"

// Report is the outcome of the cases of a suite in one mode.
type Report struct {
	Schema  string         `json:"schema"` // "anynpu.cts/1"
	API     string         `json:"api"`
	Suite   string         `json:"suite"`
	Mode    string         `json:"mode,omitempty"`
	Library string         `json:"library"`
	Version string         `json:"version"` // as in Greeting
	Device  string         `json:"device"`  // likewise
	Seconds float64        `json:"seconds"` // from the start of the first case to the end of the last
	Counts  map[Status]int `json:"counts"`
	Stopped string         `json:"stopped,omitempty"` // why cases were not run
	Results []Result       `json:"results"`
}

// add adds the result of a child that greeted so.
func (r *Report) add(x Result, from Greeting) {
	r.Results = append(r.Results, x)
	r.Counts[x.Status]++
	if x.Status == NotRun && r.Stopped == "" {
		r.Stopped = x.Message
	}
	if from.Version != "" {
		r.Version = from.Version
	}
	if from.Device != "" {
		r.Device = from.Device
	}
}

// passed are the IDs of the cases that passed.
func (r *Report) passed() map[string]bool {
	out := map[string]bool{}
	for _, x := range r.Results {
		if x.Status == Pass {
			out[x.ID] = true
		}
	}
	return out
}

// WriteJSON writes the report as JSON.
func (r *Report) WriteJSON(w io.Writer) error {
	e := json.NewEncoder(w)
	e.SetIndent("", " ")
	return e.Encode(r)
}

// Save writes a report to a file.
func Save(path string, write func(io.Writer) error) error {
	f, err := os.Create(path)
	if err != nil {
		return err
	}
	if err := write(f); err != nil {
		f.Close()
		return err
	}
	return f.Close()
}
