package fault

import (
	"errors"
	"fmt"
	"strings"
)

// Cut splits a message from its id, which stands in brackets at its end: "size: %d: want %d [rknn-size]". The id is ""
// for a message without one. An id has lower-case letters, digits and hyphens, begins with a letter and has a hyphen.
func Cut(message string) (text, id string) {
	body, ok := strings.CutSuffix(message, "]")
	at := strings.LastIndex(body, " [")
	if !ok || at < 0 || !isID(body[at+2:]) {
		return message, ""
	}
	return body[:at], body[at+2:]
}

// Message formats a message whose format may end with its id, and returns both. Only the format gives an id: what is
// formatted may come from a file.
func Message(format string, args ...any) (text, id string) {
	_, id = Cut(format)
	text = fmt.Sprintf(format, args...)
	if id != "" {
		text = strings.TrimSuffix(text, " ["+id+"]")
	}
	return text, id
}

// isID says whether s has the form of an id.
func isID(s string) bool {
	if s == "" || s[0] < 'a' || s[0] > 'z' || !strings.Contains(s, "-") || strings.HasSuffix(s, "-") {
		return false
	}
	for i := range len(s) {
		if c := s[i]; c != '-' && (c < 'a' || c > 'z') && (c < '0' || c > '9') {
			return false
		}
	}
	return true
}

// Identified is an error whose message has an id.
type Identified interface{ MessageID() string }

// MessageID returns the id of the error's own message, "" for one that has none.
func (e *Error) MessageID() string { return e.ID }

// IDOf returns the id of the innermost message in err's chain that has one. Without any it is made of the area and the
// kind of the innermost error of this package, such as "onnx-lower-unsupported", or "core-internal" without such an
// error. docs/messages.md lists all. nil has "".
func IDOf(err error) string {
	if err == nil {
		return ""
	}
	if id := innermost(err); id != "" {
		return id
	}
	var e *Error
	made := Error{Kind: KindOf(err)}
	for rest := err; errors.As(rest, &e); rest = e.Err {
		if e.at != 0 {
			made = *e
		}
	}
	return made.Kind.MessageID(area(made.at))
}

// MessageID returns the id of errors of the kind, made in the packages of an area, whose messages have no own one.
func (k Kind) MessageID(area string) string { return area + "-" + k.String() }

func innermost(err error) (id string) {
	for err != nil {
		if e, ok := err.(Identified); ok && e.MessageID() != "" {
			id = e.MessageID()
		}
		if many, ok := err.(interface{ Unwrap() []error }); ok {
			for _, e := range many.Unwrap() {
				if inner := innermost(e); inner != "" {
					return inner
				}
			}
			return id
		}
		err = errors.Unwrap(err)
	}
	return id
}
