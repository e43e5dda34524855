package main

import (
	"io"
	"slices"
	"strings"

	"github.com/anynpu/anynpu/backends/dl/loader"
	"github.com/anynpu/anynpu/capi/abi"
)

// lacksOf lists the functions of an API that a driver's file does not export, in the order of the headers. A program's
// call of one is refused where its calls go to the driver. ok is false where the file cannot be read.
func lacksOf(api, file string) (lacks []string, ok bool) {
	has, err := loader.Exports(file)
	if err != nil {
		return []string{}, false
	}
	slices.Sort(has)
	lacks = []string{}
	for _, f := range abi.Facades {
		if f.Name != api {
			continue
		}
		funcs, err := abi.Parse(f)
		if err != nil {
			return lacks, false
		}
		for _, fn := range funcs {
			if _, found := slices.BinarySearch(has, fn.Name); !found {
				lacks = append(lacks, fn.Name)
			}
		}
	}
	return lacks, true
}

// printLacks writes which functions a driver lacks, in lines of so many letters.
func printLacks(w io.Writer, lacks []string) {
	const width = 100
	printf(w, "  lacks %s of the API:\n", counted(len(lacks), "function"))
	line := ""
	for _, name := range lacks {
		if line != "" && len(line)+len(name) > width {
			printf(w, "    %s\n", strings.TrimSuffix(line, " "))
			line = ""
		}
		line += name + " "
	}
	printf(w, "    %s\n", strings.TrimSuffix(line, " "))
}
