// Command anynpu computes, describes, checks and measures ONNX models on the devices of this machine, edits what they
// say of themselves, writes what the library makes of them, tests devices, says what the machine has, and runs programs
// of the vendors' APIs with AnyNPU's libraries.
//
// Results go to stdout, messages to stderr. Exit codes: 0 as expected, 1 not as expected (outputs other than --expect
// gives, slower than --baseline, operators without a fast kernel or wrong on a device), 2 usage, 3 the model cannot be
// used, 4 there is no such device, 5 the run failed, 6 times are not stable, 7 timed out. Those of exec are the
// program's.
package main

import (
	"errors"
	"fmt"
	"io"
	"os"
	"slices"
	"strings"

	"github.com/spf13/cobra"
)

func main() { os.Exit(command(os.Args[1:], os.Stdout, os.Stderr)) }

// results is stdout; it keeps the first failure to write, which ends the command with exit code 5.
type results struct {
	w   io.Writer
	err error
}

func (r *results) Write(b []byte) (int, error) {
	if r.err != nil {
		return 0, r.err
	}
	n, err := r.w.Write(b)
	r.err = err
	return n, err
}

// command runs the tool and returns its exit code.
func command(args []string, stdout, stderr io.Writer) int {
	out := &results{w: stdout}
	root := newRoot(out, stderr)
	root.SetArgs(args)
	err := root.Execute()
	if out.err != nil {
		err = exit(exitRun, fmt.Errorf("the results could not be written: %w", out.err))
	}
	if err == nil {
		return exitOK
	}
	var coded *exitError
	is := errors.As(err, &coded)
	if is && coded.err == nil { // a program's own, which has said what it had to say
		return coded.code
	}
	code := exitUsage
	if is {
		code = coded.code
	}
	printf(stderr, "anynpu: %s [%s]\n", err, idOf(code, err))
	if is {
		return coded.code
	}
	printf(stderr, "Run 'anynpu --help' for the verbs and 'anynpu VERB --help' for the flags of one.\n")
	return exitUsage
}

func newRoot(stdout, stderr io.Writer) *cobra.Command {
	root := &cobra.Command{
		Use:   "anynpu",
		Short: "Compute, describe, check and measure ONNX models, and run programs of NPU APIs",
		Long: `anynpu computes ONNX models on the devices of this machine, describes them,
tells which operator runs where, and measures how fast.

Exit codes:
  0  as expected
  1  not as expected: outputs other than --expect gives, slower than --baseline,
     operators without a fast kernel, or wrong on a device, a model that
     --api refuses
  2  usage
  3  the model cannot be used
  4  there is no such device
  5  the run failed
  6  times are not stable
  7  timed out

exec has the exit code of its program.`,
		Version:       version,
		Args:          knownVerb,
		RunE:          func(cmd *cobra.Command, _ []string) error { return cmd.Help() },
		SilenceErrors: true,
		SilenceUsage:  true,
	}
	root.SetOut(stdout)
	root.SetErr(stderr)
	root.SuggestionsMinimumDistance = 2
	root.SetFlagErrorFunc(flagError)
	verbs := []*cobra.Command{newRun(stdout, stderr), newInspect(stdout, stderr), newCheck(stdout, stderr),
		newBench(stdout, stderr), newProfile(stdout, stderr), newCompare(stdout, stderr), newMetadata(stdout, stderr),
		newExport(stdout, stderr), newServe(stdout, stderr), newInfo(stdout), newDoctor(stdout),
		newDevices(stdout, stderr), newDrivers(stdout), newExec(stderr), newMan()}
	withoutModel := []string{"info", "doctor", "devices", "drivers", "exec", "man"}
	for _, v := range verbs {
		if v.ValidArgsFunction == nil && !slices.Contains(withoutModel, v.Name()) {
			v.ValidArgsFunction = completeModel
		}
		if _, has := v.GetFlagCompletionFunc("device"); !has && v.Flags().Lookup("device") != nil {
			complete(v, "device", append([]string{"cpu"}, driverDevices...)...)
		}
	}
	root.AddCommand(verbs...)
	return root
}

// knownVerb is the error for a verb that there is not, with those that are spelt nearly so.
func knownVerb(root *cobra.Command, args []string) error {
	if len(args) == 0 {
		return nil
	}
	near := ""
	if s := root.SuggestionsFor(args[0]); len(s) > 0 {
		near = "; did you mean " + strings.Join(s, " or ") + "?"
	}
	return fmt.Errorf("unknown command %q%s", args[0], near)
}
