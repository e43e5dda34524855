package main

import (
	"os"

	"github.com/spf13/cobra"
	"github.com/spf13/cobra/doc"
)

// newMan writes the manual pages of all verbs, for packages. SOURCE_DATE_EPOCH, seconds since 1970, is their date.
func newMan() *cobra.Command {
	return &cobra.Command{
		Use:    "man FOLDER",
		Short:  "Write the manual pages into a folder",
		Hidden: true,
		Args:   cobra.ExactArgs(1),
		RunE: func(cmd *cobra.Command, args []string) error {
			header := &doc.GenManHeader{Title: "ANYNPU", Section: "1", Source: "AnyNPU " + version, Manual: "AnyNPU"}
			root := cmd.Root()
			root.DisableAutoGenTag = true
			if st, err := os.Stat(args[0]); err != nil || !st.IsDir() {
				return usage("man: %s: want a folder that exists [tool-man-folder-exists]", args[0])
			}
			return exit(exitRun, doc.GenManTree(root, header, args[0]))
		},
	}
}
