package main

import (
	"io"
	"os"
	"strings"

	"github.com/anynpu/anynpu/core/logging"
)

// eventLog is the library's log as ANYNPU_LOG and ANYNPU_LOG_FILE have it. Without a file it goes to the tool's stderr.
type eventLog struct {
	levels logging.Levels
	w      io.Writer
	file   *os.File
}

func newEventLog(getenv func(string) string, stderr io.Writer) *eventLog {
	l := &eventLog{w: stderr}
	var unknown [][]any
	l.levels, unknown = logging.Read(getenv("ANYNPU_LOG"))
	switch file := getenv("ANYNPU_LOG_FILE"); file {
	case "", "/dev/stderr":
	case "/dev/stdout":
		l.w = os.Stdout
	default:
		fd, err := logging.Open(file)
		if err != nil {
			l.write(logging.Error, "boundary", "log goes to stderr [boundary-log-file]", "ANYNPU_LOG_FILE", file, "error", err)
			break
		}
		l.file = os.NewFile(uintptr(fd), file)
		l.w = l.file
	}
	for _, pairs := range unknown {
		l.write(logging.Error, "boundary", "unknown level ignored [boundary-log-level]", pairs...)
	}
	return l
}

// write writes a line where the level is asked for.
func (l *eventLog) write(level logging.Level, component, message string, pairs ...any) {
	if l.levels.Enabled(level, component) {
		printf(l.w, "%s: %s\n", component, logging.Text(message, pairs))
	}
}

// caution is a settings.Teller: what it writes is shown wherever errors are.
func (l *eventLog) caution(component, message string, pairs ...any) {
	l.write(logging.Error, component, message, pairs...)
}

// trace writes what a pass has made of a graph, a line per node or step.
func (l *eventLog) trace(pass, text string) {
	for line := range strings.Lines(text) {
		l.write(logging.Trace, "cpu", pass+": "+strings.TrimSuffix(line, "\n"))
	}
}

func (l *eventLog) close() {
	if l.file != nil {
		l.file.Close()
	}
}

// lookup returns the function that finds a variable in an environment.
func lookup(environment []string) func(string) string {
	values := map[string]string{}
	for _, line := range environment {
		name, value, _ := strings.Cut(line, "=")
		values[name] = value
	}
	return func(name string) string { return values[name] }
}
