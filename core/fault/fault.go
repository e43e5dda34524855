// Package fault names the few kinds of error that core returns. A façade maps a kind to its own codes (Kind.Is); a
// message says where the fault is and shows values ("conv: input 1: want rank 4, got 3"), lower case, without a
// trailing stop.
package fault

import (
	"errors"
	"fmt"
)

// Kind classifies an error. The zero Kind is Internal: a broken invariant of ours, never the caller's doing.
type Kind uint8

// The kinds, as a façade tells them apart.
const (
	Internal    Kind = iota // a broken invariant
	Argument                // an argument is wrong in itself: index, count, range, NULL
	Shape                   // shapes or ranks do not fit
	Type                    // a data type is not allowed here
	State                   // right call at the wrong time
	Unsupported             // understood, but not offered by the device or the library
	Memory                  // allocation or mapping failed
	Device                  // the device reported a failure
	Timeout                 // the deadline passed
	Canceled                // the run was cancelled
	File                    // a file is missing, damaged or of a foreign kind
	Data                    // a value met while computing has no result: index out of range, division of integers by zero
)

var kindNames = [...]string{"internal", "argument", "shape", "type", "state", "unsupported", "memory", "device",
	"timeout", "canceled", "file", "data"}

// String returns the kind's name as it appears in logs and reports.
func (k Kind) String() string {
	if int(k) < len(kindNames) {
		return kindNames[k]
	}
	return fmt.Sprintf("kind(%d)", uint8(k))
}

// Error is an error of a known kind.
type Error struct {
	Kind Kind
	Msg  string
	ID   string // of the message, "" for one without
	Err  error  // cause, may be nil

	at uintptr // where a message without an id is made
}

// Error returns the message; the cause, if any, follows after a colon.
func (e *Error) Error() string {
	if e.Err == nil {
		return e.Msg
	}
	if e.Msg == "" {
		return e.Err.Error()
	}
	return e.Msg + ": " + e.Err.Error()
}

// Unwrap returns the cause.
func (e *Error) Unwrap() error { return e.Err }

// New returns an error of kind k. The format may end with the message's id, see Cut.
func New(k Kind, format string, args ...any) error {
	msg, id := Message(format, args...)
	e := &Error{Kind: k, Msg: msg, ID: id}
	if id == "" {
		e.at = caller()
	}
	return e
}

// Wrap puts where the fault happened in front of err and keeps err's kind; nil stays nil.
func Wrap(err error, format string, args ...any) error {
	if err == nil {
		return nil
	}
	return &Error{Kind: KindOf(err), Msg: fmt.Sprintf(format, args...), Err: err}
}

// Reword returns err with the message that say makes of its own; kind and causes stay.
func Reword(err error, say func(message string) string) error {
	return &reworded{say(err.Error()), err}
}

type reworded struct {
	message string
	err     error
}

func (r *reworded) Error() string { return r.message }
func (r *reworded) Unwrap() error { return r.err }

// As gives err, usually from another library, the kind k; nil stays nil. The format may end with the message's id.
func As(k Kind, err error, format string, args ...any) error {
	if err == nil {
		return nil
	}
	msg, id := Message(format, args...)
	e := &Error{Kind: k, Msg: msg, ID: id, Err: err}
	if id == "" {
		e.at = caller()
	}
	return e
}

// KindOf returns the kind of the outermost Error in err's chain, Internal if there is none.
func KindOf(err error) Kind {
	var e *Error
	if errors.As(err, &e) {
		return e.Kind
	}
	return Internal
}
