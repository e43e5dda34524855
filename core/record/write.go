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

	"github.com/anynpu/anynpu/core/mem"
)

// A Recorder writes the record of this process. Its methods are safe for concurrent use; what cannot be written, to a
// full disk, is left out and counted.
type Recorder struct {
	// Failed, unless nil, gets the first event that cannot be written. It is set before the first event.
	Failed func(err error)

	counts    []uint64 // mapped
	functions int
	told      atomic.Bool // Failed was called

	mu sync.Mutex
	// events is the file's name: a descriptor could become another file of the program's, which may close all it finds.
	events string
	slots  map[string]int // of distinct events
	graphs map[string]int
	timed  []atomic.Int32 // by function: 0 not called yet, else the number of its times from 1, -1: there was no room
	rooms  int            // that are given
}

// Create begins a record in the folder, of a library with these functions. Where there is no room for the counters it
// leaves a file of events without a line, from which ReadFolder knows that a record is missing.
func Create(folder string, functions []string) (*Recorder, error) {
	pid := os.Getpid()
	for n := 0; ; n++ { // the process may have had another program before
		name := filepath.Join(folder, fmt.Sprintf("%d-%d", pid, n))
		events, err := open(name + ".events")
		if os.IsExist(err) && n < 1000 {
			continue
		}
		if err != nil {
			return nil, err
		}
		defer events.Close()
		counts, err := mapCounts(name+".counts", words(len(functions)))
		if err != nil {
			return nil, err
		}
		r := &Recorder{counts: counts, functions: len(functions), events: events.Name(), slots: map[string]int{},
			graphs: map[string]int{}, timed: make([]atomic.Int32, len(functions))}
		start := Event{Kind: "start", PID: pid, Began: time.Now().UnixNano(), Program: commandLine(), Functions: functions}
		if err := r.write(start); err != nil {
			_ = unix.Munmap(unsafe.Slice((*byte)(unsafe.Pointer(&counts[0])), 8*len(counts)))
			_ = os.Remove(name + ".counts")
			return nil, err
		}
		return r, nil
	}
}

// mapCounts makes a file of n numbers and maps it. The file has all its blocks: a store into a hole that a full disk
// cannot fill would end the program.
func mapCounts(name string, n int) (numbers []uint64, err error) {
	size := 8 * n
	if err := mem.CheckFileSize(int64(size)); err != nil {
		return nil, fmt.Errorf("%s: %w", name, err)
	}
	file, err := open(name)
	if err != nil {
		return nil, err
	}
	defer file.Close()
	defer func() {
		if err != nil {
			_ = os.Remove(name)
			err = fmt.Errorf("%s: %d bytes: %w", name, size, err)
		}
	}()
	switch err = ignoring(unix.EINTR, func() error { return unix.Fallocate(int(file.Fd()), 0, 0, int64(size)) }); err {
	case unix.EOPNOTSUPP, unix.ENOSYS, unix.EINVAL, unix.EPERM: // the file system, or a sandbox, has no such call
		if _, err = file.Write(make([]byte, size)); err == nil {
			err = file.Sync() // what has a place on the disk keeps it
		}
	}
	if err != nil {
		return nil, err
	}
	data, err := unix.Mmap(int(file.Fd()), 0, size, unix.PROT_READ|unix.PROT_WRITE, unix.MAP_SHARED)
	if err != nil {
		return nil, err
	}
	return unsafe.Slice((*uint64)(unsafe.Pointer(&data[0])), n), nil
}

// ignoring repeats a system call that ends with the given error.
func ignoring(again error, call func() error) error {
	for {
		if err := call(); err != again {
			return err
		}
	}
}

func open(name string) (*os.File, error) {
	return os.OpenFile(name, os.O_RDWR|os.O_CREATE|os.O_EXCL|os.O_APPEND|unix.O_NOFOLLOW, 0o600)
}

// commandLine is the program's command line; os.Args is empty in a library whose start is delayed.
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

// Refusals count the calls of the functions that were refused, in such memory too.
func (r *Recorder) Refusals() []uint64 { return r.counts[r.functions : 2*r.functions] }

// write appends a line, the whole of it or nothing.
func (r *Recorder) write(e Event) error {
	line, err := json.Marshal(e)
	if err != nil {
		return err
	}
	line = append(line, '\n')
	file, err := os.OpenFile(r.events, os.O_WRONLY|os.O_APPEND|unix.O_NOFOLLOW, 0)
	if err != nil {
		return err
	}
	defer file.Close()
	before, err := file.Stat()
	if err != nil {
		return err
	}
	if err := mem.CheckFileSize(before.Size() + int64(len(line))); err != nil {
		return fmt.Errorf("%s: %w", r.events, err)
	}
	if _, err = file.Write(line); err != nil {
		_ = file.Truncate(before.Size()) // half a line would spoil the next one
	}
	return err
}

// lost counts an event that could not be written.
func (r *Recorder) lost() { atomic.AddUint64(&r.counts[len(r.counts)-1], 1) }

// tell tells of the first event that could not be written. mu is not held: Failed may record more events.
func (r *Recorder) tell(err error) {
	if err == nil {
		return
	}
	r.lost()
	if r.Failed != nil && !r.told.Swap(true) {
		r.Failed(err)
	}
}

// happened counts an event, and writes it when it happens first.
func (r *Recorder) happened(key string, e Event) {
	var err error
	r.mu.Lock()
	slot, known := r.slots[key]
	if !known && len(r.slots) < maxEvents {
		slot, known = len(r.slots), true
		r.slots[key] = slot
		e.Slot = slot
		err = r.write(e)
	}
	r.mu.Unlock()
	if known {
		atomic.AddUint64(&r.counts[2*r.functions+slot], 1)
	}
	r.tell(err)
}

// Refused takes note of a call of the function with this index that failed.
func (r *Recorder) Refused(index int, function, text, id string) {
	atomic.AddUint64(&r.Refusals()[index], 1)
	r.happened("refused "+function+" "+text, Event{Kind: "refused", Function: function, Text: text, ID: id})
}

// Message records a line of the log.
func (r *Recorder) Message(level, component, text string) {
	r.happened("message "+component+" "+text, Event{Kind: "message", Level: level, Component: component, Text: text})
}

// Loaded takes note of a model.
func (r *Recorder) Loaded(m Model) {
	r.happened(fmt.Sprintf("model %v", m), Event{Kind: "model", Model: &m})
}

// Graph takes note of a compiled graph and returns what takes note of each of its runs, nil if there are too many
// graphs. Graphs that look alike share their numbers.
func (r *Recorder) Graph(g Graph) func(took time.Duration, err error) {
	key := fmt.Sprint(g)
	r.mu.Lock()
	slot, known := r.graphs[key]
	if !known && len(r.graphs) == maxGraphs {
		r.mu.Unlock()
		return nil
	}
	var err error
	if !known {
		slot = len(r.graphs)
		r.graphs[key] = slot
		err = r.write(Event{Kind: "graph", Slot: slot, Graph: &g})
	}
	r.mu.Unlock()
	r.tell(err)
	begin := 2*r.functions + maxEvents + slot*perGraph
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

// End records the objects and memory that are left when the program ends by itself.
func (r *Recorder) End(l Left) {
	r.mu.Lock()
	err := r.write(Event{Kind: "end", Left: &l})
	r.mu.Unlock()
	r.tell(err)
}
