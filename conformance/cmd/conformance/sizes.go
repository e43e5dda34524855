package main

import (
	"fmt"
	"os"
	"os/exec"
	"strconv"
	"strings"

	"github.com/spf13/cobra"

	"github.com/anynpu/anynpu/backends/cpu"
	"github.com/anynpu/anynpu/conformance/sizes"
)

func newSizes() *cobra.Command {
	var s sizes.Search
	var door string
	var one, from, count uint64
	var file string
	c := &cobra.Command{
		Use:   "sizes",
		Short: "Run random models with open sizes at five sizes in one execution",
		Long: fmt.Sprintf(`Run random models with open sizes at five sizes, up and down, in one execution,
and compare each run with the reference kernels. Operands of the models, such as
the weights of products, follow from the sizes. A model is run fresh and in its
saved form (RKNN, which saves none: in a duplicated context).

Doors: %s. The shapes of hbDNN's models are fixed. The
libraries are those of the folder BUILD (build), or of the variables that the
suites of the APIs name.`, strings.Join(sizes.Doors(), ", ")),
		Args: cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			if cmd.Flags().Changed("one") {
				from, count = one, 1
			}
			if file != "" {
				return os.WriteFile(file, sizes.Random(from).File, 0o644)
			}
			doors := sizes.Doors()
			if door != "" {
				doors = []string{door}
			}
			if count > 0 {
				return trySizes(cmd, doors, from, count)
			}
			self, err := os.Executable()
			if err != nil {
				return err
			}
			all := true
			for _, name := range doors {
				own := sizes.Search{Door: name, Models: s.Models, First: s.First, Jobs: s.Jobs}
				own.Child = func(door string, from, n uint64) *exec.Cmd {
					return exec.Command(self, "sizes", "--door", door, "--from", strconv.FormatUint(from, 10), "--count",
						strconv.FormatUint(n, 10))
				}
				passed, err := own.Run(cmd.OutOrStdout())
				if err != nil {
					return err
				}
				all = all && passed
			}
			return verdict(all, nil)
		},
	}
	f := c.Flags()
	f.StringVar(&door, "door", "", "only this `door`")
	f.Uint64Var(&s.Models, "models", 2000, "how many models each door runs")
	f.Uint64Var(&s.First, "seed", 0, "first seed")
	f.IntVar(&s.Jobs, "jobs", 2, "children at a time")
	f.Uint64Var(&one, "one", 0, "try the model of this `seed`, in this process")
	f.StringVar(&file, "save", "", "with --one: write the ONNX model to this `file` and do nothing else")
	f.Uint64Var(&from, "from", 0, "first seed of a child")
	f.Uint64Var(&count, "count", 0, "number of seeds of a child")
	hide(c, "from")
	hide(c, "count")
	return c
}

// trySizes tries models in this process.
func trySizes(cmd *cobra.Command, doors []string, from, count uint64) error {
	d, err := cpu.New(cpu.Config{Threads: 2})
	if err != nil {
		return err
	}
	for _, name := range doors {
		door, err := sizes.Open(name, ".", d)
		if err != nil {
			return err
		}
		if err := sizes.Child(cmd.Context(), cmd.OutOrStdout(), door, from, count); err != nil {
			return err
		}
	}
	return nil
}
