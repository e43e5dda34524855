package main

import (
	"fmt"
	"io"
	"slices"
	"strings"
	"syscall"

	"golang.org/x/sys/unix"

	"github.com/anynpu/anynpu/core/record"
)

// crashes are the signals that end a program which wrote or read beyond its memory, or found that it did.
var crashes = []syscall.Signal{syscall.SIGSEGV, syscall.SIGBUS, syscall.SIGABRT, syscall.SIGILL, syscall.SIGFPE}

// untoldABI reports whether nothing tells which version of the hbDNN headers the program at path was built with,
// neither its file nor the environment.
func untoldABI(path string, environment []string) bool {
	if lookup(environment)(abiVariable) != "" {
		return false
	}
	p, err := readHB(path)
	return err == nil && p.untold()
}

// watched runs a program that may be of older hbDNN headers, and ends as it ended. After a crash it names the setting.
func watched(path string, args, environment []string, stderr io.Writer) error {
	end, err := supervise(path, args, environment)
	if err != nil {
		return startError(args[0], err)
	}
	end.tellABI(args[0], stderr)
	return end.end()
}

// tellABI names the setting after a crash of a program that has called hbDNN.
func (e *ended) tellABI(name string, stderr io.Writer) {
	if !slices.Contains(crashes, e.signal) {
		return
	}
	warn(stderr, "tool-exec-crashed-abi", fmt.Sprintf("exec: %s: crashed (%s), and nothing says which version of the "+
		"hbDNN headers it was built with: structs of older ones are smaller, and results overrun them; try %s=1.14, then "+
		"1.12", name, unix.SignalName(e.signal), abiVariable))
}

// calledHB reports whether one of the processes has called the older generation of hbDNN.
func calledHB(processes []record.Process) bool {
	return slices.ContainsFunc(processes, func(p record.Process) bool {
		hb := false
		for _, f := range p.Functions {
			if strings.HasPrefix(f.Name, "hbUCP") || slices.Contains(newerHB, f.Name) {
				return false
			}
			hb = hb || strings.HasPrefix(f.Name, "hbDNN") || strings.HasPrefix(f.Name, "hbSys")
		}
		return hb
	})
}
