// Package kernel holds the inner loops of the CPU device: pure functions over
// slices, with no knowledge of graphs, operators or threads.
//
// Every kernel has a portable twin in Go (files *_generic.go) that is always
// built and defines its meaning. An instruction set is a name, a predicate and a
// table of kernels (table.go) that replace the inner loops; what walks over tiles,
// panels and windows calls through the table and knows no processor. Another
// architecture is a file table_ARCH.go and its assembly; that of amd64 and
// arm64 (z*_amd64.s, z*_arm64.s) is written by gen. Build tag noasm leaves assembly out. [Select]
// chooses the instruction set once; no kernel tests for features.
//
// Exported functions check the lengths of their slices and panic with the
// function's name and the lengths when one is too short: a caller's broken
// invariant, never a property of a model. Assembly relies on these checks.
// Unless a function says otherwise slices need no alignment, must not overlap
// (equal slices are allowed where "in place" is stated) and are not retained.
//
// A kernel call runs on the calling goroutine and cannot be preempted while it
// is in assembly; drivers keep one assembly call below about 100 microseconds.
//
// The package imports the standard library and golang.org/x/sys/cpu only.
package kernel
