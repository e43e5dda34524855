package main

import (
	"errors"
	"fmt"

	"github.com/anynpu/anynpu/core/fault"
)

// version is that of the library; include/anynpu.h has it too.
const version = "0.1.0"

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
	return &exitError{code, err}
}

func usage(format string, args ...any) error {
	return &exitError{exitUsage, fmt.Errorf(format, args...)}
}
