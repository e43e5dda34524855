package logging

import (
	"strings"

	"golang.org/x/sys/unix"

	"github.com/anynpu/anynpu/core/fault"
)

// Shown is how lines are shown on a terminal. The zero Shown is a file or a pipe, whose lines stay as they are.
type Shown struct {
	Width int  // columns, 0: no terminal
	Color bool // colours may be used
}

// On describes what a file descriptor is. NO_COLOR and TERM=dumb turn colours off.
func On(fd int, getenv func(string) string) Shown {
	size, err := unix.IoctlGetWinsize(fd, unix.TIOCGWINSZ)
	if err != nil {
		return Shown{}
	}
	s := Shown{Width: int(size.Col), Color: getenv("NO_COLOR") == "" && getenv("TERM") != "dumb"}
	if s.Width == 0 {
		s.Width = 80
	}
	return s
}

// The colours of a level and of an id.
const (
	red    = "\x1b[31m"
	yellow = "\x1b[33m"
	faint  = "\x1b[2m"
	plain  = "\x1b[0m"
)

// Line is a line, without its end, as it is shown: a long one has its remedy on a second line.
func (s Shown) Line(level Level, line string) string {
	if s.Width == 0 {
		return line
	}
	text, id := fault.Cut(line)
	component, text, found := strings.Cut(text, ": ")
	if !found {
		component, text = "", component
	}
	remedy := ""
	if len(line) > s.Width {
		text, remedy = Remedy(text)
	}
	if found {
		text = s.colored(level, component) + ": " + text
	}
	if id != "" {
		id = " [" + id + "]"
		if s.Color {
			id = faint + id + plain
		}
	}
	text += id
	if remedy != "" {
		text += "\n    " + remedy
	}
	return text
}

// colored is a component in the colour of a level.
func (s Shown) colored(level Level, component string) string {
	switch {
	case s.Color && level == Error:
		return red + component + plain
	case s.Color && level == Warn:
		return yellow + component + plain
	}
	return component
}

// remedies are the words that a clause begins with which says what to do.
var remedies = []string{"want", "call", "use", "set", "give", "declare", "name", "build", "make", "leave", "bind",
	"add", "destroy", "see", "measure", "chain", "pass", "run", "convert", "did you mean", "there is"}

// Remedy splits a message before its last clause that says what to do: "size: 3" and "want 4". A quotation that the
// clause ends is closed on both sides. remedy is "" for a message without such a clause.
func Remedy(message string) (text, remedy string) {
	at := -1
	for i := 0; i+2 < len(message); i++ {
		if (message[i] != ':' && message[i] != ';') || message[i+1] != ' ' {
			continue
		}
		for _, word := range remedies {
			rest := message[i+2:]
			if strings.HasPrefix(rest, word+" ") || rest == word {
				at = i
			}
		}
		if at >= 0 {
			break
		}
	}
	if at < 0 {
		return message, ""
	}
	text, remedy = message[:at], message[at+2:]
	if body, ok := strings.CutSuffix(remedy, `"`); ok && strings.Count(body, `"`)%2 == 0 {
		return text + `"`, body
	}
	return text, remedy
}
