package main

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
)

// sentences tell licences by their SPDX identifiers.
var sentences = []struct{ identifier, has, lacks string }{
	{"Apache-2.0", "Apache License, Version 2.0", ""},
	{"Apache-2.0", "Apache License Version 2.0, January 2004", ""},
	{"BSD-2-Clause", "Redistribution and use in source and binary forms", "Neither the name"},
	{"BSD-3-Clause", "Neither the name", ""},
	{"ISC", "Permission to use, copy, modify, and/or distribute this software for any purpose", ""},
	{"MIT", "Permission is hereby granted, free of charge, to any person obtaining a copy", ""},
	{"MPL-2.0", "Mozilla Public License Version 2.0", ""},
	{"Unlicense", "This is free and unencumbered software released into the public domain", ""},
}

// licence is the SPDX expression of the licences in a folder's LICENSE and COPYING files. A text that is not known is
// an error: somebody has to read it.
func licence(folder string) (string, error) {
	var found, files []string
	for _, pattern := range []string{"LICENSE*", "LICENCE*", "License*", "COPYING*"} {
		more, err := filepath.Glob(filepath.Join(folder, pattern))
		if err != nil {
			return "", err
		}
		files = append(files, more...)
	}
	for _, file := range files {
		if info, err := os.Stat(file); err != nil || info.IsDir() {
			continue
		}
		data, err := os.ReadFile(file)
		if err != nil {
			return "", err
		}
		text, known := strings.Join(strings.Fields(string(data)), " "), false
		for _, s := range sentences {
			if strings.Contains(text, s.has) && (s.lacks == "" || !strings.Contains(text, s.lacks)) {
				known = true
				if !slices.Contains(found, s.identifier) {
					found = append(found, s.identifier)
				}
			}
		}
		if !known {
			return "", fmt.Errorf("%s: the licence is not one of those that this program knows", file)
		}
	}
	if len(found) == 0 {
		return "", fmt.Errorf("%s has no licence", folder)
	}
	slices.Sort(found)
	return strings.Join(found, " AND "), nil
}

// folders are where Go keeps the sources of modules, by PATH@VERSION. The current folder is in the main module.
func folders() (map[string]string, error) {
	out, err := exec.Command("go", "list", "-m", "-f", "{{.Path}}@{{.Version}}\t{{.Dir}}", "all").Output()
	if err != nil {
		return nil, fmt.Errorf("go list -m all: %w", err)
	}
	found := map[string]string{}
	for line := range strings.Lines(string(out)) {
		if name, folder, ok := strings.Cut(strings.TrimSpace(line), "\t"); ok && folder != "" {
			found[name] = folder
		}
	}
	return found, nil
}
