package main

import (
	"os"
	"os/exec"
	"strconv"
	"time"

	"github.com/spf13/cobra"

	"github.com/anynpu/anynpu/backends/cpu"
	"github.com/anynpu/anynpu/conformance/bombs"
)

func newBombs() *cobra.Command {
	var s bombs.Search
	var seconds int
	var one, from, count uint64
	c := &cobra.Command{
		Use:   "bombs",
		Short: "Load and run models that are small as files and large in meaning",
		Long: `Load and run models that are small as files and large in meaning, in children
that may have 1 GiB of address space and of data more than they start with. A
child that dies or stays silent is a failure, which names the seed of the model;
a model that is refused is none.`,
		Args: cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			if one != 0 {
				from, count = one, 1
			}
			if count > 0 {
				d, err := cpu.New(cpu.Config{})
				if err != nil {
					return err
				}
				return bombs.Child(cmd.OutOrStdout(), d, from, count)
			}
			self, err := os.Executable()
			if err != nil {
				return err
			}
			s.Time = time.Duration(seconds) * time.Second
			s.Child = func(from, n uint64) *exec.Cmd {
				return exec.Command(self, "bombs", "--from", strconv.FormatUint(from, 10), "--count", strconv.FormatUint(n, 10))
			}
			return verdict(s.Run(cmd.OutOrStdout()))
		},
	}
	f := c.Flags()
	f.IntVar(&seconds, "seconds", 300, "how long to try models")
	f.Uint64Var(&s.First, "seed", 1, "first seed")
	f.IntVar(&s.Jobs, "jobs", 2, "children at a time")
	f.BoolVarP(&s.Verbose, "verbose", "v", false, "say what became of each model")
	f.Uint64Var(&one, "one", 0, "try the model of this `seed`, in this process")
	f.Uint64Var(&from, "from", 0, "first seed of a child")
	f.Uint64Var(&count, "count", 0, "number of seeds of a child")
	hide(c, "from")
	hide(c, "count")
	return c
}
