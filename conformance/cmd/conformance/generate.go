package main

import (
	"fmt"
	"os"
	"path/filepath"

	"github.com/spf13/cobra"

	"github.com/anynpu/anynpu/conformance/bombs"
	"github.com/anynpu/anynpu/conformance/graphs"
	"github.com/anynpu/anynpu/conformance/names"
	"github.com/anynpu/anynpu/conformance/ohnn"
	"github.com/anynpu/anynpu/conformance/ohnn/operators"
	"github.com/anynpu/anynpu/conformance/onnx/networks"
)

// newGenerate writes what is generated and committed.
func newGenerate() *cobra.Command {
	return group("generate", "Write what the suites generate and the repository holds",
		&cobra.Command{
			Use:   "names SPECS CONFORMANCE",
			Short: "Write names and numbers of the APIs from the specifications in the folder SPECS",
			Args:  cobra.ExactArgs(2),
			RunE:  func(_ *cobra.Command, args []string) error { return names.Write(args[0], args[1]) },
		},
		&cobra.Command{
			Use:   "bombs FOLDER",
			Short: "Save the models with names, for C programs",
			Args:  cobra.ExactArgs(1),
			RunE:  func(_ *cobra.Command, args []string) error { return bombs.Save(args[0]) },
		},
		newNetwork(),
		newTable(),
		newStatements(),
		&cobra.Command{
			Use:   "graphs FOLDER",
			Short: "Turn the lines of conformance/graphs/gen/random_graphs.py on standard input into cases",
			Args:  cobra.ExactArgs(1),
			RunE: func(cmd *cobra.Command, args []string) error {
				n, size, err := graphs.Pack(cmd.InOrStdin(), args[0])
				if err == nil {
					fmt.Fprintf(cmd.OutOrStdout(), "%d graphs, %d bytes\n", n, size)
				}
				return err
			},
		})
}

func newNetwork() *cobra.Command {
	archive := ""
	c := &cobra.Command{
		Use:   "network NAME... FOLDER",
		Short: "Write benchmark networks with made-up weights as ONNX files",
		Args:  cobra.MinimumNArgs(2),
		RunE: func(_ *cobra.Command, args []string) error {
			all, err := networks.Open(archive)
			if err != nil {
				return err
			}
			defer all.Close()
			folder := args[len(args)-1]
			for _, name := range args[:len(args)-1] {
				data, err := all.Model(name)
				if err == nil {
					err = os.WriteFile(filepath.Join(folder, name+".onnx"), data, 0o666)
				}
				if err != nil {
					return err
				}
			}
			return nil
		},
	}
	c.Flags().StringVar(&archive, "archive", "bench/networks.zip", "`file` that bench/outline.py has written")
	return c
}

func newTable() *cobra.Command {
	library, passed := "", false
	c := &cobra.Command{
		Use:   "operators FILE.md",
		Short: "Write the table of OH_NN operators and types that a library computes, docs/ohnn-operators.md",
		Args:  cobra.ExactArgs(1),
		RunE:  func(_ *cobra.Command, args []string) error { return operators.WriteTable(library, args[0], passed) },
	}
	c.Flags().BoolVar(&passed, "passed", false,
		"the library has passed the suite ohnn operators: do not compute its cases once more")
	c.Flags().StringVar(&library, "library", ohnn.API.OwnFile("."), "library `file`")
	return c
}
