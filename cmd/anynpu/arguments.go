package main

import (
	"strings"

	"github.com/spf13/cobra"
)

// noArguments refuses arguments of a verb that takes flags alone.
func noArguments(cmd *cobra.Command, args []string) error {
	if len(args) > 0 {
		return usage("%s: takes no arguments, got %q; see 'anynpu %s --help' "+
			"[tool-takes-no-arguments]", cmd.Name(), args[0], cmd.Name())
	}
	return nil
}

// oneModel checks for exactly one argument.
func oneModel(cmd *cobra.Command, args []string) error {
	if len(args) > 1 && cmd.Flags().Lookup("input") != nil {
		return usage("%s: want one MODEL, got %d; inputs are given with -i NAME=FILE; see 'anynpu %s --help' "+
			"[tool-model-got-inputs]", cmd.Name(),
			len(args), cmd.Name())
	}
	if len(args) != 1 {
		return usage("%s: want one MODEL, got %d; see 'anynpu %s --help' "+
			"[tool-model-got-see]", cmd.Name(), len(args), cmd.Name())
	}
	return nil
}

// flagError is the error of a flag without the words of the library that read its value.
func flagError(cmd *cobra.Command, err error) error {
	text, _, _ := strings.Cut(err.Error(), ": strconv.")
	return usage("%s; see '%s --help' [tool-see-help]", text, cmd.CommandPath())
}

// complete has the shell complete the values of a flag.
func complete(cmd *cobra.Command, flag string, values ...string) {
	cobra.CheckErr(cmd.RegisterFlagCompletionFunc(flag, cobra.FixedCompletions(values,
		cobra.ShellCompDirectiveNoFileComp)))
}

// completeModel has the shell complete the name of a file, once.
func completeModel(_ *cobra.Command, args []string, _ string) ([]string, cobra.ShellCompDirective) {
	if len(args) > 0 { // there is one MODEL
		return nil, cobra.ShellCompDirectiveNoFileComp
	}
	return nil, cobra.ShellCompDirectiveDefault
}
