package rknnrules

import (
	"strings"
	"sync"

	"github.com/ebitengine/purego"
)

// logLines collects what a library logs.
type logLines struct {
	mu   sync.Mutex
	text []string
}

// listen has a library's log lines collected, if it has a function for that; else nil.
func listen(setLog uintptr) *logLines {
	if setLog == 0 {
		return nil
	}
	l := &logLines{}
	callback := purego.NewCallback(func(_ int32, _, message, _ uintptr) {
		l.mu.Lock()
		defer l.mu.Unlock()
		l.text = append(l.text, text(message))
	})
	purego.SyscallN(setLog, callback, 0)
	return l
}

// take returns the lines so far and begins anew.
func (l *logLines) take() string {
	if l == nil {
		return ""
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	out := strings.Join(l.text, "\n")
	l.text = nil
	return out
}

// logs demands that the lines since the last take have all of these parts, if the library lets them be collected.
func (t *T) logs(parts ...string) {
	if t.lines == nil {
		return
	}
	got := t.lines.take()
	for _, p := range parts {
		t.check(strings.Contains(got, p), "the log has %q: %q is not in it", got, p)
	}
}

// silent demands that there are no lines since the last take.
func (t *T) silent() {
	got := t.lines.take()
	t.check(got == "", "the log has %q", got)
}
