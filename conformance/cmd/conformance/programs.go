package main

import (
	"cmp"
	"os"
	"slices"

	"github.com/spf13/cobra"

	"github.com/anynpu/anynpu/conformance/suite"
)

// newPrograms checks the C programs of --emit-c.
func newPrograms(suites []*suite.Suite) *cobra.Command {
	var o suite.Options
	how := suite.Reproduction{Compile: []string{cmp.Or(os.Getenv("CC"), "cc"), "-Wall", "-Wextra", "-Iinclude"}}
	var apis []string
	c := &cobra.Command{
		Use:   "programs",
		Short: "Turn cases into C programs, compile and run them, and compare what came of both",
		Args:  cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			stop, err := prepare(cmd, &o)
			if err != nil {
				return err
			}
			defer stop()
			chosen := slices.DeleteFunc(slices.Clone(suites), func(s *suite.Suite) bool {
				return len(apis) > 0 && !slices.Contains(apis, s.API.Name+" "+s.Name)
			})
			return verdict(suite.Reproduce(chosen, o, how, cmd.OutOrStdout()))
		},
	}
	f := c.Flags()
	f.IntVar(&how.Sample, "sample", 0, "about `N` cases of each suite instead of all")
	f.StringVar(&how.Folder, "keep", "", "keep the sources of wrong programs in this `folder`")
	f.StringArrayVar(&apis, "suite", nil, "only this suite, `\"API NAME\"`; can be repeated")
	f.StringVar(&o.Filter, "run", "", "only cases whose name contains this `text`")
	limitFlags(c, &o)
	f.IntVar(&o.Workers, "workers", 2, "processes at a time")
	return c
}
