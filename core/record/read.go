package record

import (
	"bufio"
	"cmp"
	"encoding/binary"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"
)

// A Process is a record that was read.
type Process struct {
	PID       int
	Began     int64 // nanoseconds since 1970
	Program   []string
	Functions []Function // those that were called, in the order of the API
	Refused   []Counted
	Messages  []Counted
	Models    []LoadedModel
	Graphs    []RunGraph
	Converted time.Duration // spent on converting inputs and outputs
	Left      *Left         // nil: the program did not end by itself, or by _exit
	Lost      uint64        // events that could not be written
}

// A Function was called.
type Function struct {
	Name           string
	Calls, Refused uint64
	Times          *Times // nil: none is known
}

// Counted is an event that happened a number of times.
type Counted struct {
	Event
	Times uint64
}

// LoadedModel is a model that was loaded a number of times.
type LoadedModel struct {
	Model
	Times uint64
}

// A RunGraph is a graph with the runs of all its executions.
type RunGraph struct {
	Graph
	Runs, Failed      uint64 // that succeeded, and others
	Mean, Least, Most time.Duration
}

// ReadFolder reads all records in a folder, in the order in which they were begun, and counts the processes that had no
// room for one.
func ReadFolder(folder string) (all []Process, missing int, err error) {
	names, err := filepath.Glob(filepath.Join(folder, "*.events"))
	if err != nil {
		return nil, 0, err
	}
	for _, name := range names {
		p, err := read(strings.TrimSuffix(name, ".events"))
		if errors.Is(err, errMissing) {
			missing++
			continue
		}
		if err != nil {
			return nil, 0, fmt.Errorf("record %s: %w", filepath.Base(name), err)
		}
		if p != nil {
			all = append(all, *p)
		}
	}
	slices.SortFunc(all, func(a, b Process) int { return cmp.Compare(a.Began, b.Began) })
	return all, missing, nil
}

// errMissing is the error of a record that was not begun for want of room.
var errMissing = errors.New("there was no room for it")

// read reads one record, nil if the process ended before it had begun.
func read(name string) (*Process, error) {
	data, err := os.ReadFile(name + ".counts")
	if errors.Is(err, fs.ErrNotExist) {
		return nil, errMissing
	}
	if err != nil {
		return nil, err
	}
	counts := make([]uint64, len(data)/8)
	for i := range counts {
		counts[i] = binary.NativeEndian.Uint64(data[8*i:])
	}
	file, err := os.Open(name + ".events")
	if err != nil {
		return nil, err
	}
	defer file.Close()
	var p *Process
	lines := bufio.NewReader(file)
	for {
		line, err := lines.ReadBytes('\n')
		if err != nil { // the last line may be cut, where the process was killed
			return p, nil
		}
		var e Event
		if err := json.Unmarshal(line, &e); err != nil {
			return nil, err
		}
		switch {
		case p == nil && e.Kind == "start" && words(len(e.Functions)) == len(counts):
			p = &Process{PID: e.PID, Began: e.Began, Program: e.Program, Lost: counts[len(counts)-1],
				Converted: time.Duration(counts[len(counts)-2])}
			for i, f := range e.Functions {
				p.Functions = append(p.Functions, Function{Name: f, Calls: counts[i],
					Refused: counts[len(e.Functions)+i]})
			}
			counts = counts[2*len(e.Functions):]
			defer p.settle()
		case p == nil:
			return nil, fmt.Errorf("it does not begin as a record does")
		default:
			if err := p.take(e, counts); err != nil {
				return nil, err
			}
		}
	}
}

// take adds an event; counts are those behind the functions'.
func (p *Process) take(e Event, counts []uint64) error {
	limit := maxEvents
	switch e.Kind {
	case "graph":
		limit = maxGraphs
	case "timed":
		limit = maxTimed
	}
	if e.Slot < 0 || e.Slot >= limit || (e.Kind == "model" && e.Model == nil) || (e.Kind == "graph" && e.Graph == nil) {
		return fmt.Errorf("event %q of slot %d", e.Kind, e.Slot)
	}
	switch times := counts[min(e.Slot, len(counts)-1)]; e.Kind {
	case "refused":
		p.Refused = append(p.Refused, Counted{e, times})
	case "message":
		p.Messages = append(p.Messages, Counted{e, times})
	case "model":
		p.Models = append(p.Models, LoadedModel{*e.Model, times})
	case "graph":
		n := counts[maxEvents+e.Slot*perGraph:][:perGraph]
		g := RunGraph{Graph: *e.Graph, Runs: n[runs], Failed: n[failed], Least: time.Duration(n[least]),
			Most: time.Duration(n[most])}
		if g.Runs > 0 {
			g.Mean = time.Duration(n[total] / g.Runs)
		}
		p.Graphs = append(p.Graphs, g)
	case "timed":
		for i := range p.Functions {
			if p.Functions[i].Name == e.Function {
				p.Functions[i].Times = timesOf(counts[beforeTimes+e.Slot*perTimed:][:perTimed])
			}
		}
	case "end":
		p.Left = e.Left
	}
	return nil
}

// settle leaves out functions without calls.
func (p *Process) settle() {
	p.Functions = slices.DeleteFunc(p.Functions, func(f Function) bool { return f.Calls == 0 })
}
