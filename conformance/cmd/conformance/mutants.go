package main

import (
	"os"
	"os/exec"
	"path/filepath"

	"github.com/spf13/cobra"

	"github.com/anynpu/anynpu/conformance/mutants"
	"github.com/anynpu/anynpu/conformance/ohnn"
	"github.com/anynpu/anynpu/conformance/ohnn/operators"
	"github.com/anynpu/anynpu/internal/built"
)

func newMutants() *cobra.Command {
	var only string
	var verbose bool
	c := &cobra.Command{
		Use:   "mutants",
		Short: "Measure how many seeded wrong kernels the operator suite finds",
		Long: `Measure how many seeded wrong kernels the operator suite finds. At least 95 %
must be found, every operator must have at least 3, and each survivor must be
argued for in conformance/mutants/survivors.txt.`,
		Args: cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			root, err := filepath.Abs(".")
			if err != nil {
				return err
			}
			folder := filepath.Join(built.Folder(), "mutants")
			if err := os.MkdirAll(folder, 0o755); err != nil {
				return err
			}
			library, err := mutants.Build(root, folder)
			if err != nil {
				return err
			}
			self, err := os.Executable()
			if err != nil {
				return err
			}
			m := &mutants.Suite{Library: library, Folder: folder, Child: func() *exec.Cmd {
				return exec.Command(self, ohnn.API.Name, operators.Suite().Name, "--child", "--library", library, "--mode",
					ohnn.Manual)
			}}
			return verdict(m.Run(cmd.OutOrStdout(), only, verbose))
		},
	}
	c.Flags().StringVar(&only, "run", "", "only this `operator`")
	c.Flags().BoolVarP(&verbose, "verbose", "v", false, "print every mutant")
	return c
}
