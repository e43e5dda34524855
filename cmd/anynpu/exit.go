package main

import (
	"cmp"
	"errors"
	"fmt"
	"strings"

	"github.com/anynpu/anynpu/core/fault"
)

// version is the library's version; include/anynpu.h has it too.
const version = "0.2.0"

// The exit codes.
const (
	exitOK        = 0
	exitDifferent = 1
	exitUsage     = 2
	exitModel     = 3
	exitDevice    = 4
	exitRun       = 5
	exitUnstable  = 6
	exitTimeout   = 7
)

// exitError is an error with the exit code it ends the command with. Without an error it is the code of a program that
// exec has run.
type exitError struct {
	code int
	err  error
	id   string // of the message, "" where err has it
}

// MessageID returns the id of the message, "" where the cause has it.
func (e *exitError) MessageID() string { return e.id }

// exitIDs are the ids of messages that have no own one, by exit code.
var exitIDs = map[int]string{exitDifferent: "tool-different", exitUsage: "tool-usage", exitModel: "tool-model",
	exitDevice: "tool-device", exitRun: "tool-run", exitUnstable: "tool-unstable", exitTimeout: "tool-timed-out"}

// idOf returns the id of the message that ends the command with an exit code.
func idOf(code int, err error) string {
	if id := fault.IDOf(err); !strings.HasSuffix(id, "-"+fault.Internal.String()) {
		return id
	}
	return cmp.Or(exitIDs[code], "tool-exec")
}

func (e *exitError) Error() string {
	if e.err == nil {
		return fmt.Sprintf("exit code %d", e.code)
	}
	return e.err.Error()
}
func (e *exitError) Unwrap() error { return e.err }

// exit gives err an exit code unless it has one; a deadline that passed always has its own. nil stays nil.
func exit(code int, err error) error {
	var has *exitError
	switch {
	case err == nil:
		return nil
	case errors.As(err, &has):
		return err
	case fault.KindOf(err) == fault.Timeout:
		code = exitTimeout
	}
	return &exitError{code: code, err: err}
}

// usage is an error of how the tool was called. The format ends with the id of the message.
func usage(format string, args ...any) error {
	text, id := fault.Message(format, args...)
	return &exitError{exitUsage, errors.New(text), id}
}
