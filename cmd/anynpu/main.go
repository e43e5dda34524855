// Command anynpu computes, describes, checks and measures ONNX models on the devices of this machine.
//
// Results go to stdout, messages to stderr. Exit codes: 0 as expected, 1 not as expected (outputs other than --expect gives, slower than
// --baseline, operators without a fast kernel), 2 usage, 3 the model cannot be used, 4 there is no such device, 5 the run failed, 6 times are
// not stable, 7 timed out.
package main

import (
	"errors"
	"fmt"
	"io"
	"os"

	"github.com/spf13/cobra"

	"github.com/anynpu/anynpu/core/fault"
)

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

// exitError is an error with the exit code it ends the command with.
type exitError struct {
	code int
	err  error
}

func (e *exitError) Error() string { return e.err.Error() }
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

func main() { os.Exit(command(os.Args[1:], os.Stdout, os.Stderr)) }

// command runs the tool and returns its exit code.
func command(args []string, stdout, stderr io.Writer) int {
	root := newRoot(stdout, stderr)
	root.SetArgs(args)
	err := root.Execute()
	if err == nil {
		return exitOK
	}
	fmt.Fprintln(stderr, "anynpu:", err)
	var coded *exitError
	if errors.As(err, &coded) {
		return coded.code
	}
	fmt.Fprintln(stderr, "Run 'anynpu --help' for the verbs and 'anynpu VERB --help' for the flags of one.")
	return exitUsage
}

func newRoot(stdout, stderr io.Writer) *cobra.Command {
	root := &cobra.Command{
		Use:   "anynpu",
		Short: "Compute, describe, check and measure ONNX models",
		Long: `anynpu computes ONNX models on the devices of this machine, describes them, tells which operator runs where, and measures
how fast.

Exit codes: 0 as expected, 1 not as expected (outputs other than --expect gives, slower than --baseline, operators without
a fast kernel), 2 usage, 3 the model cannot be used, 4 there is no such device, 5 the run failed, 6 times are not stable,
7 timed out.`,
		Args:          cobra.NoArgs,
		RunE:          func(cmd *cobra.Command, _ []string) error { return cmd.Help() },
		SilenceErrors: true,
		SilenceUsage:  true,
	}
	root.SetOut(stdout)
	root.SetErr(stderr)
	root.CompletionOptions.HiddenDefaultCmd = true
	root.AddCommand(newRun(stdout, stderr), newInspect(stdout, stderr), newCheck(stdout, stderr), newBench(stdout, stderr),
		newProfile(stdout, stderr))
	return root
}
