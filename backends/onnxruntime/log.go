package onnxruntime

import (
	"sync"
	"sync/atomic"

	"github.com/ebitengine/purego"
)

// Severity is how much a line of the runtime's log matters, as OrtLoggingLevel.
type Severity int32

// The severities.
const (
	Verbose Severity = iota
	Information
	Warning
	Error
	Fatal
)

// A Log gets the lines of the runtime's log. id names the device whose session wrote it, "" for none. It may be called
// on any thread.
type Log func(s Severity, id, text string)

// sink is where lines of all libraries go.
var sink atomic.Pointer[Log]

// callback is the C function that libraries call for a line. A process has one, as such functions are never freed.
var callback = sync.OnceValue(func() uintptr {
	return purego.NewCallback(func(_, severity, _, id, _, text uintptr) uintptr {
		if to := sink.Load(); to != nil && *to != nil {
			(*to)(Severity(int32(severity)), cText(id), oneLine(cText(text)))
		}
		return 0
	})
})
