package suite

import (
	"bytes"
	"runtime"
	"strings"
	"sync"

	"github.com/ebitengine/purego"

	"github.com/anynpu/anynpu/conformance/suite/cmem"
)

// extras are functions that this project's library has beside those of an API; each is 0 or nil where a library lacks
// it, and what rests on it is then not judged.
type extras struct {
	counters  [2]uintptr // of handles and buffers that live
	errorText uintptr    // of the message of the thread's last call that failed
	version   uintptr    // of its text
	placement uintptr    // of a compilation's report: which device computes what
	log       *logLines
}

// logLines are what the library has logged and nobody has taken yet.
type logLines struct {
	mu   sync.Mutex
	text []string
}

func findExtras(handle uintptr) extras {
	var x extras
	var setLog uintptr
	for name, to := range map[string]*uintptr{
		"anynpu_live_handles": &x.counters[0], "anynpu_live_buffers": &x.counters[1],
		"anynpu_last_error": &x.errorText, "anynpu_set_log_callback": &setLog, "anynpu_version": &x.version,
		"anynpu_placement_report": &x.placement,
	} {
		if symbol, err := purego.Dlsym(handle, name); err == nil {
			*to = symbol
		}
	}
	if setLog != 0 {
		x.log = &logLines{}
		purego.SyscallN(setLog, purego.NewCallback(func(_, _, message, _ uintptr) uintptr {
			x.log.mu.Lock()
			defer x.log.mu.Unlock()
			x.log.text = append(x.log.text, cmem.Text(message))
			return 0
		}), 0)
	}
	return x
}

// Ours tells whether the library is this project's.
func (l *Library) Ours() bool { return l.own.version != 0 }

// Counts tells whether the library counts its handles and buffers.
func (l *Library) Counts() bool { return l.own.counters[0] != 0 }

// Live counts the library's handles and buffers, 0 where it does not tell.
func (l *Library) Live() (counts [2]int) {
	for i, symbol := range l.own.counters {
		if symbol != 0 {
			n, _, _ := purego.SyscallN(symbol)
			counts[i] = int(n)
		}
	}
	return counts
}

// HasMessages tells whether the library gives the message of a call that failed.
func (l *Library) HasMessages() bool { return l.own.errorText != 0 }

// LastError is the message of this thread's last call that failed, "" where the library has none.
func (l *Library) LastError() string {
	if l.own.errorText == 0 {
		return ""
	}
	p, _, _ := purego.SyscallN(l.own.errorText)
	return cmem.Text(p)
}

// Placement is the library's report on a compilation as JSON: which device computes what. nil where it has none.
func (l *Library) Placement(compilation uintptr) []byte {
	if l.own.placement == 0 {
		return nil
	}
	needed := make([]uint64, 1)
	size, keep := argument(needed)
	purego.SyscallN(l.own.placement, compilation, 0, 0, size)
	report := make([]byte, needed[0])
	to, text := argument(report)
	purego.SyscallN(l.own.placement, compilation, to, uintptr(len(report)), 0)
	runtime.KeepAlive(keep)
	runtime.KeepAlive(text)
	return bytes.TrimRight(report, "\x00")
}

// HasLog tells whether the library hands its log over.
func (l *Library) HasLog() bool { return l.own.log != nil }

// TakeLog returns the messages that the library has logged since the last call of TakeLog, none where it does not hand
// them over.
func (l *Library) TakeLog() []string {
	if l.own.log == nil {
		return nil
	}
	l.own.log.mu.Lock()
	defer l.own.log.mu.Unlock()
	lines := l.own.log.text
	l.own.log.text = nil
	return lines
}

func joined(lines []string) string { return strings.Join(lines, "\n") }
