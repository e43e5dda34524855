package main

import (
	"debug/elf"
	"fmt"
	"slices"
	"strings"
)

// platform returns the platform of a wheel's tag for a shared library: the oldest glibc that has all symbol versions
// which it imports, or musl 1.2 (PEP 600 and PEP 656), and the processor.
func platform(file string) (string, error) {
	f, err := elf.Open(file)
	if err != nil {
		return "", err
	}
	defer f.Close()
	machine, ok := map[elf.Machine]string{elf.EM_X86_64: "x86_64", elf.EM_AARCH64: "aarch64"}[f.Machine]
	if !ok {
		return "", fmt.Errorf("%s: no wheel is made for %v", file, f.Machine)
	}
	libraries, err := f.ImportedLibraries()
	if err != nil {
		return "", err
	}
	if !slices.Contains(libraries, "libc.so.6") {
		return "musllinux_1_2_" + machine, nil
	}
	symbols, err := f.ImportedSymbols()
	if err != nil {
		return "", err
	}
	newest := 17 // the oldest that package installers still tell apart
	for _, s := range symbols {
		var minor int
		if version, ok := strings.CutPrefix(s.Version, "GLIBC_2."); ok {
			if _, err := fmt.Sscanf(version, "%d", &minor); err == nil {
				newest = max(newest, minor)
			}
		}
	}
	return fmt.Sprintf("manylinux_2_%d_%s", newest, machine), nil
}
