package ohnn

import (
	"bufio"
	"encoding/json"
	"fmt"
	"io"
	"maps"
	"os"
	"slices"
	"time"
)

// Serve is what the child process of a Runner does, whatever its suite: it writes the Greeting of the library at path,
// then reads case IDs from in, one a line, and writes the Result of each, as lines of JSON. compute runs a case in a
// folder of its own; its error ends the process.
func Serve(path, device string, in io.Reader, out io.Writer, compute func(id, dir string) (Result, error)) error {
	scratch, err := os.MkdirTemp("", "anynpu-cases-")
	if err != nil {
		return err
	}
	defer os.RemoveAll(scratch)
	enc := json.NewEncoder(out)
	greeting, err := Greet(path, device)
	if err != nil {
		return err
	}
	if err := enc.Encode(greeting); err != nil {
		return err
	}
	lines := bufio.NewScanner(in)
	for n := 0; lines.Scan(); n++ {
		dir := fmt.Sprintf("%s/%d", scratch, n)
		if err := os.Mkdir(dir, 0o755); err != nil {
			return err
		}
		start := time.Now()
		r, err := compute(lines.Text(), dir)
		if err != nil {
			return err
		}
		r.ID, r.Time = lines.Text(), time.Since(start)
		if err := enc.Encode(r); err != nil {
			return err
		}
	}
	return lines.Err()
}

// Judge is the result of a case that has called functions and passed when violated is nil.
func Judge(violated error, functions map[string]bool) Result {
	r := Result{Status: Pass, Functions: slices.Sorted(maps.Keys(functions))}
	if violated != nil {
		r.Status, r.Message = Fail, violated.Error()
	}
	return r
}

// Save writes a report to a file; an empty path writes nothing.
func Save(path string, write func(io.Writer) error) error {
	if path == "" {
		return nil
	}
	f, err := os.Create(path)
	if err != nil {
		return err
	}
	if err := write(f); err != nil {
		f.Close()
		return err
	}
	return f.Close()
}
