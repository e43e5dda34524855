package main

import (
	"fmt"
	"os"

	"github.com/spf13/cobra"

	"github.com/anynpu/anynpu/conformance/suite"
)

// newDiff compares two results.
func newDiff() *cobra.Command {
	return &cobra.Command{
		Use:   "diff OLD NEW",
		Short: "Tell what is otherwise in a later result of --result",
		Long: `Tell what is otherwise in a later result: cases that pass now, and cases that do
not any more. Exit code 1: at least one is worse.`,
		Args: cobra.ExactArgs(2),
		RunE: func(cmd *cobra.Command, args []string) error {
			var both [2]*suite.Verdict
			for i, path := range args {
				f, err := os.Open(path)
				if err != nil {
					return err
				}
				both[i], err = suite.ReadVerdict(f)
				f.Close()
				if err != nil {
					return fmt.Errorf("%s: %w", path, err)
				}
			}
			return verdict(both[0].Diff(both[1], cmd.OutOrStdout()), nil)
		},
	}
}
