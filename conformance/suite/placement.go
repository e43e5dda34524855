package suite

import (
	"encoding/json"
	"os"
	"slices"
	"sync"

	"github.com/anynpu/anynpu/conformance/suite/cmem"
)

// PlacementVariable, unless empty, has children tell in reports which devices compute the models of a case.
const PlacementVariable = "CONFORMANCE_PLACEMENT"

// Compiler is the function of an API that compiles a model for devices.
type Compiler struct {
	Function string // without the prefix
	Made     bool   // its first argument is where it writes a handle, else the handle
}

// placements are where the operations of the models of a case are computed.
type placements struct {
	mu      sync.Mutex
	wanted  bool
	counts  map[string]int
	refused []string // "DEVICE: REASON"
}

func newPlacements() *placements { return &placements{wanted: os.Getenv(PlacementVariable) != ""} }

// compiled notes the placement of a model that a call has compiled. The library is asked only after calls that
// succeeded: its message of a call that failed stays.
func (l *Library) compiled(function string, args []any, values []uintptr, result uintptr) {
	c := l.API.Compiler
	if c == nil || !l.placements.wanted || function != c.Function || int(int32(result)) != l.API.Success ||
		len(args) == 0 || values[0] == 0 {
		return
	}
	handle := values[0]
	if c.Made {
		handle = uintptr(*cmem.At[uint64](values[0]))
	}
	var report struct {
		Nodes []struct {
			Device  string `json:"device"`
			Refused []struct{ Device, Reason string }
		} `json:"nodes"`
	}
	if json.Unmarshal(l.Placement(handle), &report) != nil {
		return
	}
	p := l.placements
	p.mu.Lock()
	defer p.mu.Unlock()
	for _, n := range report.Nodes {
		p.counts[n.Device]++
		for _, r := range n.Refused {
			if text := r.Device + ": " + r.Reason; !slices.Contains(p.refused, text) {
				p.refused = append(p.refused, text)
			}
		}
	}
}

// placing computes a case and adds where its models were computed.
func (l *Library) placing(compute func(Task) (Result, error)) func(Task) (Result, error) {
	p := l.placements
	if !p.wanted {
		return compute
	}
	return func(t Task) (Result, error) {
		p.mu.Lock()
		p.counts, p.refused = map[string]int{}, nil
		p.mu.Unlock()
		r, err := compute(t)
		p.mu.Lock()
		defer p.mu.Unlock()
		if r.Placement == nil {
			r.Placement = p.counts
		}
		r.Refused = p.refused
		return r, err
	}
}
