package main

import (
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"golang.org/x/sys/unix"

	"github.com/anynpu/anynpu/core/record"
)

// reported runs the program, writes the report, and ends as the program ended. A full disk costs the report, not the
// program.
func (f *execFlags) reported(path string, args, environment []string, stderr io.Writer) error {
	out := stderr
	if f.report != "-" {
		file, err := os.Create(f.report) // before the program runs, which may take long
		switch {
		case full(err):
			return without(path, args, environment, stderr, err)
		case err != nil:
			return exit(exitExec, fmt.Errorf("exec: the report: %w", err))
		}
		defer file.Close()
		out = file
	}
	folder, err := recordFolder()
	switch {
	case full(err):
		return without(path, args, environment, stderr, err)
	case err != nil:
		return exit(exitExec, fmt.Errorf("exec: the report: %w", err))
	}
	defer os.RemoveAll(folder)
	began := time.Now()
	end, err := supervise(path, args, setVariable(environment, "ANYNPU_REPORT", folder))
	if err != nil {
		return startError(args[0], err)
	}
	processes, missing, err := record.ReadFolder(folder)
	if err == nil {
		r := newCallReport(args, began, end, processes)
		r.Missing = missing
		switch strings.ToLower(filepath.Ext(f.report)) {
		case ".html", ".htm":
			err = r.page(out)
		case ".json":
			err = writeJSON(out, r.document())
		default:
			err = r.text(out)
		}
	}
	if err != nil {
		printf(stderr, "anynpu: exec: the report could not be written: %s\n", err)
	}
	if lookup(environment)(abiVariable) == "" && (calledHB(processes) || untoldABI(path, environment)) {
		end.tellABI(args[0], stderr)
	}
	os.RemoveAll(folder) // end may not return
	return end.end()
}

// full says whether an error means that there is no room left.
func full(err error) bool { return errors.Is(err, unix.ENOSPC) || errors.Is(err, unix.EDQUOT) }

// without becomes the program, without a report.
func without(path string, args, environment []string, stderr io.Writer, why error) error {
	printf(stderr, "anynpu: exec: the program runs without a report: %s\n", why)
	return startError(args[0], unix.Exec(path, args, environment))
}

// recordRoom is the room that a folder must have: the records of some processes.
const recordRoom = 256 << 10

// recordFolder makes a folder for records: in that for temporary files, or, where that is full, in another.
func recordFolder() (string, error) {
	var first error
	tried := []string{}
	for _, parent := range []string{os.TempDir(), "/dev/shm", "/tmp", "/var/tmp"} {
		if slices.Contains(tried, parent) {
			continue
		}
		tried = append(tried, parent)
		folder, err := os.MkdirTemp(parent, "anynpu-report-")
		if err == nil {
			if err = hasRoom(folder); err == nil {
				return folder, nil
			}
			os.RemoveAll(folder)
		}
		if first == nil {
			first = err
		}
		if !full(err) && len(tried) == 1 {
			break
		}
	}
	return "", first
}

// hasRoom takes the room for records for a moment.
func hasRoom(folder string) error {
	name := filepath.Join(folder, "room")
	err := os.WriteFile(name, make([]byte, recordRoom), 0o600)
	_ = os.Remove(name)
	return err
}
