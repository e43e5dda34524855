package main

import (
	"maps"
	"slices"
	"strconv"
	"strings"

	"github.com/spf13/cobra"

	"github.com/anynpu/anynpu/core/format/metadata"
	"github.com/anynpu/anynpu/core/format/onnx"
	"github.com/anynpu/anynpu/core/model"
)

// completeEntry has the shell complete a file's name, and behind it the keys that the model can have.
func completeEntry(_ *cobra.Command, args []string, begun string) ([]string, cobra.ShellCompDirective) {
	if len(args) == 0 {
		return nil, cobra.ShellCompDirectiveDefault
	}
	prefix := ""
	if strings.HasPrefix(begun, "anynpu.") {
		prefix = "anynpu."
	}
	var out []string
	for _, key := range keysOf(args[0]) {
		if key = prefix + key + "="; strings.HasPrefix(key, begun) {
			out = append(out, key)
		}
	}
	return shellWords(out), cobra.ShellCompDirectiveNoFileComp | cobra.ShellCompDirectiveNoSpace
}

// keysOf are the keys for the model at path, without "anynpu."; of a file that is no model those without names.
func keysOf(path string) []string {
	keys := []string{"custom_string", "inputs", "name", "outputs", "target"}
	f, err := model.Source{Path: path}.Open()
	if err != nil {
		return keys
	}
	defer f.Close()
	names, err := onnx.ReadNames(f, f.Size)
	if err != nil {
		return keys
	}
	for _, p := range slices.Concat(names.In, names.Out) {
		for _, d := range p.Dims {
			if _, err := strconv.Atoi(d); err != nil && d != "?" && !slices.Contains(keys, "dim."+d) {
				keys = append(keys, "dim."+d)
			}
		}
		keys = append(keys, "value."+p.Name+".stored")
	}
	for _, p := range names.In {
		keys = append(keys, metadata.InputKeys(p.Name)...)
	}
	return keys
}

// completeStored has the shell complete the keys that the model has.
func completeStored(_ *cobra.Command, args []string, _ string) ([]string, cobra.ShellCompDirective) {
	if len(args) == 0 {
		return nil, cobra.ShellCompDirectiveNoFileComp
	}
	s, err := onnx.SurveyFile(args[0])
	if err != nil {
		return nil, cobra.ShellCompDirectiveNoFileComp
	}
	return shellWords(slices.Sorted(maps.Keys(s.Meta))), cobra.ShellCompDirectiveNoFileComp
}

// shellWords leaves out what is no line, or has the tab that begins a description there.
func shellWords(list []string) []string {
	return slices.DeleteFunc(list, func(s string) bool { return strings.ContainsAny(s, "\t\r\n") })
}
