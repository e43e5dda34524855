// Package logging has the common part of the library's log and the tool's: levels, the syntax of ANYNPU_LOG, the file
// of ANYNPU_LOG_FILE, and the form of lines.
package logging

import (
	"fmt"
	"strconv"
	"strings"
	"unicode"
	"unicode/utf8"

	"golang.org/x/sys/unix"

	"github.com/anynpu/anynpu/core/fault"
)

// A Level says how much a component reports.
type Level int32

// The levels, each with all before it.
const (
	Off Level = iota
	Error
	Warn
	Info
	Debug
	Trace
)

var names = [...]string{"off", "error", "warn", "info", "debug", "trace"}

// String returns the level's name.
func (l Level) String() string { return names[l] }

func parseLevel(s string) (Level, bool) {
	for i, name := range names {
		if strings.EqualFold(s, name) {
			return Level(i), true
		}
	}
	return 0, false
}

// Levels are the levels of the components.
type Levels struct {
	Default    Level            // of components without an own one
	Components map[string]Level // by name
}

// Read reads ANYNPU_LOG: a comma-separated list of LEVEL and COMPONENT=LEVEL. Items that are neither are ignored;
// unknown has the pairs of an event for each.
func Read(value string) (l Levels, unknown [][]any) {
	l = Levels{Default: Error, Components: map[string]Level{}}
	for item := range strings.SplitSeq(value, ",") {
		item = strings.TrimSpace(item)
		component, name, found := strings.Cut(item, "=")
		if !found {
			component, name = "", item
		}
		level, ok := parseLevel(name)
		switch {
		case item == "":
		case !ok:
			unknown = append(unknown, []any{"ANYNPU_LOG", item, "levels", strings.Join(names[:], " ")})
		case component == "":
			l.Default = level
		default:
			l.Components[component] = level
		}
	}
	return l, unknown
}

// Enabled says whether messages of the level and component are wanted.
func (l *Levels) Enabled(level Level, component string) bool {
	if own, ok := l.Components[component]; ok {
		return level <= own
	}
	return level <= l.Default
}

// Open opens a log file to append: one that only its owner reads, or what is there, but no link. /dev/stdout and
// /dev/stderr are descriptors 1 and 2. A FIFO must not hold the program.
func Open(file string) (fd int, err error) {
	if fd, ok := map[string]int{"/dev/stdout": 1, "/dev/stderr": 2}[file]; ok {
		return fd, nil
	}
	const flags = unix.O_WRONLY | unix.O_CREAT | unix.O_APPEND | unix.O_NOFOLLOW | unix.O_NONBLOCK | unix.O_NOCTTY |
		unix.O_CLOEXEC
	return unix.Open(file, flags, 0o600)
}

// Line is an event as one line: "component: message key=value ...". pairs alternate between keys and values.
func Line(component, message string, pairs []any) string {
	return component + ": " + Text(message, pairs) + "\n"
}

// Text is an event without its component and the line's end. The id of the message, or else of the last error among the
// pairs, stands at the end in brackets.
func Text(message string, pairs []any) string {
	var b strings.Builder
	text, id := fault.Cut(message)
	b.WriteString(fault.Printable(text))
	for i := 0; i+1 < len(pairs); i += 2 {
		if err, ok := pairs[i+1].(error); ok && id == "" {
			id = fault.IDOf(err)
		}
		fmt.Fprintf(&b, " %v=%s", pairs[i], quote(fmt.Sprint(pairs[i+1])))
	}
	if id != "" {
		b.WriteString(" [" + id + "]")
	}
	return b.String()
}

// quote keeps an event on one line and its pairs separable.
func quote(s string) string {
	plain := s != "" && utf8.ValidString(s) && !strings.ContainsFunc(s, func(r rune) bool {
		return unicode.IsSpace(r) || r == '"' || r == '=' || !unicode.IsPrint(r)
	})
	if plain {
		return s
	}
	return strconv.Quote(s)
}
