// Command conformance judges libraries of the APIs that this project implements, and the engine below them, by the
// suites of the folder conformance. Every suite is a sub-command, named as its folder; --help of each tells the rest.
//
// It is run in the repository's root. Results go to stdout, messages to stderr. Exit codes: 0 everything passed, 1 it
// did not, 2 wrong usage, or something that could not be judged.
package main

import (
	"errors"
	"fmt"
	"io"
	"os"
	"runtime/debug"

	"github.com/spf13/cobra"

	hbdnnrules "github.com/anynpu/anynpu/conformance/hbdnn/rules"
	hbucprules "github.com/anynpu/anynpu/conformance/hbucp/rules"
	nnapinetworks "github.com/anynpu/anynpu/conformance/nnapi/networks"
	nnapioperations "github.com/anynpu/anynpu/conformance/nnapi/operations"
	nnapirules "github.com/anynpu/anynpu/conformance/nnapi/rules"
	"github.com/anynpu/anynpu/conformance/ohnn/networks"
	"github.com/anynpu/anynpu/conformance/ohnn/operators"
	ohnnrules "github.com/anynpu/anynpu/conformance/ohnn/rules"
	"github.com/anynpu/anynpu/conformance/rknn/numerics"
	rknnrules "github.com/anynpu/anynpu/conformance/rknn/rules"
	"github.com/anynpu/anynpu/conformance/suite"
)

// version is that of the package, which its build sets.
var version = "development"

// garbage is how much of it, in percent of what lives, a process of the command keeps: two children have all cases at
// a time, beside what the library under test takes. Where GOGC is set it is ample, whatever GOGC says: more would hide
// from cases what the library leaves behind.
const (
	garbage = 30
	ample   = 100
)

func main() {
	if os.Getenv("GOGC") == "" {
		debug.SetGCPercent(garbage)
	} else {
		debug.SetGCPercent(ample)
	}
	os.Exit(run(os.Args[1:], os.Stdin, os.Stdout, os.Stderr))
}

// errFailed says that something was judged and did not pass; what, is printed.
var errFailed = errors.New("failed")

// verdict is the error of a command that has judged.
func verdict(passed bool, err error) error {
	if err == nil && !passed {
		return errFailed
	}
	return err
}

// run runs the command and returns its exit code.
func run(args []string, stdin io.Reader, stdout, stderr io.Writer) int {
	root := newRoot()
	root.SetArgs(args)
	root.SetIn(stdin)
	root.SetOut(stdout)
	root.SetErr(stderr)
	switch err := root.Execute(); {
	case err == nil:
		return 0
	case errors.Is(err, errFailed):
		return 1
	default:
		fmt.Fprintln(stderr, "conformance:", err)
		return 2
	}
}

func newRoot() *cobra.Command {
	root := &cobra.Command{
		Use:   "conformance",
		Short: "Judge libraries of the APIs, and the engine below them",
		Long: `conformance judges libraries of the APIs that this project implements, and the
engine below them. The suites that judge libraries run anywhere, the others in
the repository's root.

Exit codes:
  0  everything passed
  1  it did not
  2  usage, or something that could not be judged`,
		Version:       version,
		Args:          cobra.NoArgs,
		RunE:          func(cmd *cobra.Command, _ []string) error { return cmd.Help() },
		SilenceErrors: true,
		SilenceUsage:  true,
	}
	all := suites()
	for _, name := range namesOf(all) {
		root.AddCommand(newAPI(name, all))
	}
	root.AddCommand(newAll(all), newModels(all), newDiff(),
		newPrograms(all), newONNX(), newBombs(), newSizes(), newMutants(), newGenerate())
	return root
}

// suites are those that judge libraries.
func suites() []*suite.Suite {
	return []*suite.Suite{
		ohnnrules.Suite(), operators.Suite(), networks.Suite(),
		rknnrules.Suite(), numerics.Suite(),
		hbdnnrules.Suite(),
		hbucprules.Suite(),
		nnapirules.Suite(), nnapioperations.Suite(), nnapinetworks.Suite(),
	}
}

// newAPI has a sub-command for each suite of an API.
func newAPI(name string, suites []*suite.Suite) *cobra.Command {
	c := group(name, "")
	for _, s := range suites {
		if s.API.Name == name {
			c.Short = "Judge a library of the " + s.API.Title
			c.AddCommand(newSuite(s))
		}
	}
	return c
}

// group is a command that only has sub-commands.
func group(use, short string, commands ...*cobra.Command) *cobra.Command {
	c := &cobra.Command{Use: use, Short: short, Args: cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error { return cmd.Help() }}
	c.AddCommand(commands...)
	return c
}
