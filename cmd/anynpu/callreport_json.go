package main

import (
	"time"

	"github.com/anynpu/anynpu/core/record"
)

// reportDocument is the JSON form of a report; docs/schemas/report.json describes it.
type reportDocument struct {
	Schema    string            `json:"schema"` // "anynpu.report/1"
	Command   string            `json:"command"`
	Host      string            `json:"host"`
	Began     string            `json:"began"` // RFC 3339
	End       string            `json:"end"`   // the exit code, or the signal
	Good      bool              `json:"good"`
	TookMS    float64           `json:"took_ms"`
	CPUMS     float64           `json:"cpu_ms"`
	PeakBytes int64             `json:"peak_bytes"`
	Missing   int               `json:"missing"` // processes that had no room for a record
	Processes []reportedProcess `json:"processes"`
}

// reportedProcess is a process that called the library.
type reportedProcess struct {
	PID         int                `json:"pid"`
	Program     []string           `json:"program"`
	Functions   []reportedFunction `json:"functions"`
	InCallsMS   float64            `json:"in_calls_ms"`   // sum of the functions
	ConvertedMS float64            `json:"conversion_ms"` // of inputs and outputs, within the calls
	Refused     []reportedSentence `json:"refused"`
	Messages    []reportedSentence `json:"messages"`
	Models      []reportedModel    `json:"models"`
	Graphs      []reportedGraph    `json:"graphs"`
	Left        *reportedLeft      `json:"left"` // null: the program was ended by a signal or by _exit
	Lost        uint64             `json:"lost"` // lines of the record that had no room
}

// reportedFunction is a function that was called. Times are of calls that came into the library; 0 without any.
type reportedFunction struct {
	Name     string  `json:"name"`
	Calls    uint64  `json:"calls"`
	Refused  uint64  `json:"refused"`
	TotalMS  float64 `json:"total_ms"`
	MedianMS float64 `json:"median_ms"` // to an eighth
	P99MS    float64 `json:"p99_ms"`    // to an eighth
}

// reportedSentence is a sentence of the log, with its number.
type reportedSentence struct {
	Function  string `json:"function,omitempty"` // of a refused call
	Component string `json:"component,omitempty"`
	Level     string `json:"level,omitempty"`
	Text      string `json:"text"`
	ID        string `json:"id,omitempty"` // of a refused call; that of a message stands at the end of its text
	Times     uint64 `json:"times"`
}

// reportedModel is a model that was loaded.
type reportedModel struct {
	Name    string `json:"name"`
	Bytes   int64  `json:"bytes"`
	Instead string `json:"instead,omitempty"` // what the program handed over, where another file was read
	Times   uint64 `json:"times"`
}

// reportedGraph is a compiled model with its runs.
type reportedGraph struct {
	Name    string           `json:"name"`
	Devices []reportedDevice `json:"devices"`
	Runs    uint64           `json:"runs"`
	Failed  uint64           `json:"failed"`
	MeanMS  float64          `json:"mean_ms"`
	LeastMS float64          `json:"least_ms"`
	MostMS  float64          `json:"most_ms"`
}

// reportedDevice computes operators of a graph.
type reportedDevice struct {
	Name      string `json:"name"`
	Operators int    `json:"operators"`
}

// reportedLeft lists objects and memory that were not given back.
type reportedLeft struct {
	Objects []string `json:"objects"`
	Buffers int64    `json:"buffers"`
	Bytes   int64    `json:"bytes"`
}

// millis is a time in milliseconds, to a nanosecond.
func millis(d time.Duration) float64 { return float64(d) / 1e6 }

// document returns the JSON form.
func (r *callReport) document() *reportDocument {
	d := &reportDocument{Schema: "anynpu.report/1", Command: r.Command, Host: r.Host,
		Began: r.Began.Format(time.RFC3339), End: r.End, Good: r.Good, TookMS: millis(r.Took), CPUMS: millis(r.CPU),
		PeakBytes: r.Peak, Missing: r.Missing, Processes: []reportedProcess{}}
	for i := range r.Processes {
		d.Processes = append(d.Processes, documentOf(&r.Processes[i]))
	}
	return d
}

func documentOf(p *record.Process) reportedProcess {
	out := reportedProcess{PID: p.PID, Program: append([]string{}, p.Program...), Functions: []reportedFunction{},
		InCallsMS: millis(inCalls(p)), ConvertedMS: millis(p.Converted), Refused: sentencesOf(p.Refused),
		Messages: sentencesOf(p.Messages), Models: []reportedModel{}, Graphs: []reportedGraph{}, Lost: p.Lost}
	for _, f := range p.Functions {
		t := timesOf(f)
		out.Functions = append(out.Functions, reportedFunction{f.Name, f.Calls, f.Refused, millis(t.Total), millis(t.Median),
			millis(t.P99)})
	}
	for i := range p.Models {
		m := &p.Models[i]
		out.Models = append(out.Models, reportedModel{m.Name, m.Bytes, m.Instead, m.Times})
	}
	for i := range p.Graphs {
		g := &p.Graphs[i]
		one := reportedGraph{graphName(g.Graph), []reportedDevice{}, g.Runs, g.Failed, millis(g.Mean),
			millis(g.Least), millis(g.Most)}
		for _, on := range g.Devices {
			one.Devices = append(one.Devices, reportedDevice{on.Name, on.Operators})
		}
		out.Graphs = append(out.Graphs, one)
	}
	if l := p.Left; l != nil {
		out.Left = &reportedLeft{append([]string{}, l.Objects...), l.Buffers, l.Bytes}
	}
	return out
}

func sentencesOf(list []record.Counted) []reportedSentence {
	out := []reportedSentence{}
	for i := range list {
		c := &list[i]
		out = append(out, reportedSentence{c.Function, c.Component, c.Level, c.Text, c.ID, c.Times})
	}
	return out
}
