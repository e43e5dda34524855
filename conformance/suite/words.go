package suite

import (
	"bytes"
	"regexp"
	"strings"
	"sync"
)

// words keeps the end of what a child writes to standard output and standard error, and what of it says how the
// process died. A child may write without end: only so much is kept.
type words struct {
	mu       sync.Mutex
	line     []byte   // that has no end yet
	lines    []string // the last ones
	signal   string   // of a dump that began
	maybe    string   // signal of the line before this one
	panicked string   // the message of the process's own panic
	dump     bool     // what follows is registers and stacks
}

const (
	wordLines = 3
	wordBytes = 300
)

// said is what is known when a process has ended.
type said struct{ last, signal, panicked string }

// A dump of the Go runtime, which a child is and a library may be, begins with one of these. That of a signal in C code
// is followed by a line that begins with PC=.
var (
	dumpSignal  = regexp.MustCompile(`^(SIG[A-Z]+): `)
	panicSignal = regexp.MustCompile(`^\[signal (SIG[A-Z]+)`)
)

func (w *words) Write(b []byte) (int, error) {
	w.mu.Lock()
	defer w.mu.Unlock()
	n := len(b)
	for len(b) > 0 {
		i := bytes.IndexByte(b, '\n')
		part := b
		if i >= 0 {
			part = b[:i]
		}
		if room := wordBytes - len(w.line); room > 0 {
			w.line = append(w.line, part[:min(room, len(part))]...)
		}
		if i < 0 {
			break
		}
		w.take1(string(w.line))
		w.line, b = w.line[:0], b[i+1:]
	}
	return n, nil
}

// take1 takes in a whole line.
func (w *words) take1(line string) {
	switch {
	case w.maybe != "" && strings.HasPrefix(line, "PC="):
		if w.signal == "" {
			w.signal = w.maybe
		}
		if n := len(w.lines); !w.dump && n > 0 {
			w.lines = w.lines[:n-1] // the line of the signal
		}
		w.dump = true
	case strings.HasPrefix(line, "panic: "), strings.HasPrefix(line, "fatal error: "):
		if w.panicked == "" && w.signal == "" {
			w.panicked = line
		}
		w.dump = true
	case w.dump:
		if m := panicSignal.FindStringSubmatch(line); m != nil && w.signal == "" {
			w.signal = m[1]
		}
	case strings.TrimSpace(line) != "":
		w.lines = append(w.lines, strings.TrimSpace(line))
		w.lines = w.lines[max(0, len(w.lines)-wordLines):]
	}
	w.maybe = ""
	if m := dumpSignal.FindStringSubmatch(line); m != nil {
		w.maybe = m[1]
	}
}

// take returns what is known.
func (w *words) take() said {
	w.mu.Lock()
	defer w.mu.Unlock()
	if len(w.line) > 0 {
		w.take1(string(w.line))
		w.line = nil
	}
	return said{strings.ToValidUTF8(strings.Join(w.lines, " | "), "?"), w.signal, strings.ToValidUTF8(w.panicked, "?")}
}
