package record

import (
	"bytes"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"sync"
	"sync/atomic"
	"time"
	"unsafe"

	"golang.org/x/sys/unix"
)

// A Recorder writes the record of this process. Its methods are safe for concurrent use; what cannot be written, to a
// full disk, is left out.
type Recorder struct {
	counts    []uint64 // mapped
	functions int

	mu sync.Mutex
	// events is the file's name: a descriptor could become another file of the program's, which may close all it finds.
	events string
	slots  map[string]int // of distinct events
	graphs map[string]int
}

// Create begins a record in the folder, of a library with these functions.
func Create(folder string, functions []string) (*Recorder, error) {
	pid := os.Getpid()
	for n := 0; ; n++ { // the process may have had another program before
		name := filepath.Join(folder, fmt.Sprintf("%d-%d", pid, n))
		counts, err := open(name + ".counts")
		if os.IsExist(err) && n < 1000 {
			continue
		}
		if err != nil {
			return nil, err
		}
		defer counts.Close()
		size := words(len(functions)) * 8
		if err := unix.Fallocate(int(counts.Fd()), 0, 0, int64(size)); err != nil { // a hole could not be filled later
			if err := counts.Truncate(int64(size)); err != nil {
				return nil, err
			}
		}
		data, err := unix.Mmap(int(counts.Fd()), 0, size, unix.PROT_READ|unix.PROT_WRITE, unix.MAP_SHARED)
		if err != nil {
			return nil, err
		}
		events, err := open(name + ".events")
		if err != nil {
			return nil, err
		}
		defer events.Close()
		r := &Recorder{counts: unsafe.Slice((*uint64)(unsafe.Pointer(&data[0])), size/8), functions: len(functions),
			events: events.Name(), slots: map[string]int{}, graphs: map[string]int{}}
		r.write(Event{Kind: "start", PID: pid, Began: time.Now().UnixNano(), Program: commandLine(), Functions: functions})
		return r, nil
	}
}

func open(name string) (*os.File, error) {
	return os.OpenFile(name, os.O_RDWR|os.O_CREATE|os.O_EXCL|os.O_APPEND|unix.O_NOFOLLOW, 0o600)
}

// commandLine is that of the program; os.Args is empty in a library whose start is delayed.
func commandLine() (words []string) {
	data, err := os.ReadFile("/proc/self/cmdline")
	if err != nil {
		return nil
	}
	for word := range bytes.SplitSeq(bytes.TrimSuffix(data, []byte{0}), []byte{0}) {
		words = append(words, string(word))
	}
	return words
}

// Calls are the counters of the functions, in memory that is no heap of Go's and stays.
func (r *Recorder) Calls() []uint64 { return r.counts[:r.functions] }

func (r *Recorder) write(e Event) {
	line, err := json.Marshal(e)
	if err != nil {
		return
	}
	file, err := os.OpenFile(r.events, os.O_WRONLY|os.O_APPEND|unix.O_NOFOLLOW, 0)
	if err != nil {
		return
	}
	defer file.Close()
	_, _ = file.Write(append(line, '\n'))
}

// happened counts an event, and writes it when it happens first.
func (r *Recorder) happened(key string, e Event) {
	r.mu.Lock()
	slot, known := r.slots[key]
	if !known && len(r.slots) < maxEvents {
		slot, known = len(r.slots), true
		r.slots[key] = slot
		e.Slot = slot
		r.write(e)
	}
	r.mu.Unlock()
	if known {
		atomic.AddUint64(&r.counts[r.functions+slot], 1)
	}
}

// Refused takes note of a call that failed.
func (r *Recorder) Refused(function, text string) {
	r.happened("refused "+function+" "+text, Event{Kind: "refused", Function: function, Text: text})
}

// Message takes note of what the log is told.
func (r *Recorder) Message(level, component, text string) {
	r.happened("message "+component+" "+text, Event{Kind: "message", Level: level, Component: component, Text: text})
}

// Loaded takes note of a model.
func (r *Recorder) Loaded(m Model) {
	r.happened(fmt.Sprintf("model %v", m), Event{Kind: "model", Model: &m})
}

// Graph takes note of a compiled graph and returns what takes note of each of its runs, nil if there are too many
// graphs. Graphs that cannot be told apart share their numbers.
func (r *Recorder) Graph(g Graph) func(took time.Duration, err error) {
	r.mu.Lock()
	defer r.mu.Unlock()
	key := fmt.Sprint(g)
	slot, known := r.graphs[key]
	if !known {
		if len(r.graphs) == maxGraphs {
			return nil
		}
		slot = len(r.graphs)
		r.graphs[key] = slot
		r.write(Event{Kind: "graph", Slot: slot, Graph: &g})
	}
	begin := r.functions + maxEvents + slot*perGraph
	return func(took time.Duration, err error) {
		run(r.counts[begin:begin+perGraph], uint64(max(took, 1)), err != nil)
	}
}

// run adds a run to a graph's numbers; only runs that succeed have a time.
func run(n []uint64, took uint64, bad bool) {
	if bad {
		atomic.AddUint64(&n[failed], 1)
		return
	}
	atomic.AddUint64(&n[total], took)
	for old := atomic.LoadUint64(&n[least]); old == 0 || took < old; old = atomic.LoadUint64(&n[least]) {
		if atomic.CompareAndSwapUint64(&n[least], old, took) {
			break
		}
	}
	for old := atomic.LoadUint64(&n[most]); took > old; old = atomic.LoadUint64(&n[most]) {
		if atomic.CompareAndSwapUint64(&n[most], old, took) {
			break
		}
	}
	atomic.AddUint64(&n[runs], 1)
}

// End takes note of what is left when the program ends by itself.
func (r *Recorder) End(l Left) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.write(Event{Kind: "end", Left: &l})
}
