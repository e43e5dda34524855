package main

import (
	"errors"
	"fmt"
	"io/fs"
	"slices"
	"strings"

	"github.com/anynpu/anynpu/core/fault"
)

// execFlags are the flags of exec.
type execFlags struct {
	api, log, report string

	core string // the library's file, beside the stub libraries or in the folder above
	musl bool   // it is one for musl
}

// startError is the error of a program that the system did not start.
func startError(name string, err error) error {
	code := exitCannot
	if errors.Is(err, fs.ErrNotExist) {
		code = exitMissing
	}
	return refuse(code, name, "%v [tool-exec-file]", err)
}

// setVariable returns an environment in which the variable has the value.
func setVariable(environment []string, name, value string) []string {
	environment = slices.DeleteFunc(slices.Clone(environment), func(line string) bool {
		return strings.HasPrefix(line, name+"=")
	})
	return append(environment, name+"="+value)
}

// refuse is the error for a program, which messages call name. The format ends with the id of the message.
func refuse(code int, name, format string, args ...any) error {
	text, id := fault.Message(format, args...)
	return &exitError{code, fmt.Errorf("exec: %s: %s", name, text), id}
}

// Exit codes of exec where there is none of the program's, as shells and env have them.
const (
	exitExec    = 125 // exec itself failed
	exitCannot  = 126 // the program is there and cannot be run, or not with AnyNPU's libraries
	exitMissing = 127
)
