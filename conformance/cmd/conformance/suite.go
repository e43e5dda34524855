package main

import (
	"context"
	"fmt"
	"os"
	"os/exec"
	"os/signal"
	"strings"
	"syscall"

	"github.com/spf13/cobra"
	"golang.org/x/sys/unix"

	"github.com/anynpu/anynpu/conformance/suite"
)

// newSuite runs a suite. With the hidden flag --child it is the process in which cases are computed.
func newSuite(s *suite.Suite) *cobra.Command {
	var library, emit string
	o := suite.Options{Library: func(*suite.API) string { return library }}
	var list, child bool
	c := &cobra.Command{
		Use:   s.Name,
		Short: s.Short,
		Long: fmt.Sprintf(`%s.

The library is that of --library, else of the environment variable
%s, else this tree's own in the folder BUILD (build).%s`, s.Short, s.API.Variable, modesHelp(s)),
		Args: cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			switch {
			case list:
				s.List(cmd.OutOrStdout())
				return nil
			case child:
				return s.Serve(library, o.Mode)
			}
			stop, err := prepare(cmd, &o)
			if err != nil {
				return err
			}
			defer stop()
			if emit != "" {
				return emitC([]*suite.Suite{s}, o, emit, cmd)
			}
			return verdict(s.Run(o, cmd.OutOrStdout()))
		},
	}
	f := c.Flags()
	f.StringVar(&library, "library", s.API.File("."), "library `file` under test")
	f.StringVar(&o.JSON, "json", "", "write the report as JSON to this `file`")
	f.StringVar(&o.JUnit, "junit", "", "write the report as JUnit XML to this `file`")
	f.BoolVar(&list, "list", false, "print what is judged, and what cannot be")
	f.StringVar(&o.Mode, "mode", "", "only this `mode`")
	f.BoolVar(&child, "child", false, "compute the cases named on standard input")
	runFlags(c, &o, &emit)
	hide(c, "child")
	if len(s.Modes) == 0 {
		hide(c, "mode")
	}
	return c
}

// runFlags adds the flags that say which cases run, and how.
func runFlags(c *cobra.Command, o *suite.Options, emit *string) {
	f := c.Flags()
	f.StringVar(emit, "emit-c", "", "compute only this `case` and print it as a C program")
	f.StringVar(&o.Filter, "run", "", "only cases whose name contains this `text`")
	f.BoolVar(&o.Long, "long", false, "also cases that take more than a second")
	f.IntVar(&o.Workers, "workers", 2, "processes at a time")
	limitFlags(c, o)
	f.IntVar(&o.Sample, "sample", 1, "only each `N`-th case")
	f.IntVar(&o.Share, "share", 0, "which of the N shares of --sample: `K`, from 0 to N-1; all together are all cases")
	f.BoolVar(&o.Placement, "placement", false, "tell in reports which devices computed, and why others did not")
	f.StringVar(&o.Board, "board", "", "the `board` of a library of others, such as rk3566")
	f.StringVar(&o.Models, "models", "",
		"judge with the converted models in this `folder`, which conformance models has written")
	f.BoolVarP(&o.Verbose, "verbose", "v", false, "print every case")
}

// limitFlags adds the flags that bound a run.
func limitFlags(c *cobra.Command, o *suite.Options) {
	f := c.Flags()
	f.DurationVar(&o.Timeout, "timeout", suite.DefaultTimeout,
		"how long a case may take, and loading the library, such as 90s")
	f.IntVar(&o.Hangs, "hangs", suite.DefaultHangs, "stop a suite when `N` cases in a row hang, or 4 N in all; 0: never")
}

// prepare fills what options of all commands have in common. The run ends early, with its reports and without its
// temporary files, when a signal asks for it; a second signal ends the command at once.
func prepare(cmd *cobra.Command, o *suite.Options) (stop func(), err error) {
	if o.Timeout <= 0 {
		return nil, fmt.Errorf("--timeout %v: want a time above 0, such as 30s", o.Timeout)
	}
	if o.Share < 0 || o.Share >= max(o.Sample, 1) {
		return nil, fmt.Errorf("--share %d: want a number from 0 to %d, below that of --sample", o.Share,
			max(o.Sample, 1)-1)
	}
	if o.Child, err = children(); err != nil {
		return nil, err
	}
	if o.Board != "" {
		if err := os.Setenv(suite.BoardVariable, o.Board); err != nil {
			return nil, err
		}
	}
	if o.Placement {
		if err := os.Setenv(suite.PlacementVariable, "1"); err != nil {
			return nil, err
		}
	}
	o.Source = sources(".")
	o.Progress = &suite.Progress{To: cmd.ErrOrStderr()}
	if f, ok := o.Progress.To.(*os.File); ok {
		_, err := unix.IoctlGetTermios(int(f.Fd()), unix.TCGETS)
		o.Progress.Terminal = err == nil
	}
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM, syscall.SIGHUP, syscall.SIGPIPE)
	context.AfterFunc(ctx, func() {
		stop()
		signal.Ignore(syscall.SIGPIPE) // whoever read the output has gone: the reports are written all the same
	})
	o.Context = ctx
	return stop, nil
}

// emitC prints a case as a C program, and what came of it as a message.
func emitC(suites []*suite.Suite, o suite.Options, id string, cmd *cobra.Command) error {
	r, source, err := suite.Emit(suites, o, id)
	if err != nil {
		return err
	}
	fmt.Fprintf(cmd.ErrOrStderr(), "%s %s %s\n", r.Status, id, r.Message)
	fmt.Fprint(cmd.OutOrStdout(), source)
	return nil
}

// children is the command of a suite's child: this one with --child.
func children() (func(*suite.Suite, string, string) *exec.Cmd, error) {
	self, err := os.Executable()
	return func(s *suite.Suite, library, mode string) *exec.Cmd {
		return exec.Command(self, s.API.Name, s.Name, "--child", "--library", library, "--mode", mode)
	}, err
}

func modesHelp(s *suite.Suite) string {
	if len(s.Modes) == 0 {
		return ""
	}
	var names []string
	for _, m := range s.Modes {
		names = append(names, m.Name)
	}
	return fmt.Sprintf(`

Modes: %s. Reports of several are written to FILE with
-MODE before its extension.`, strings.Join(names, ", "))
}

// hide leaves a flag, which the command itself uses, out of the help.
func hide(c *cobra.Command, flag string) { cobra.CheckErr(c.Flags().MarkHidden(flag)) }
