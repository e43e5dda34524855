package suite

import (
	"bufio"
	"encoding/json"
	"fmt"
	"io"
	"os"
	"runtime"
	"time"
)

// Serve is what a child process does: it opens the library, writes its Greeting, then reads IDs of cases from in, one a
// line, computes each in a mode and a folder of its own, and writes its Result; both as lines of JSON.
func (s *Suite) Serve(library, mode string, in io.Reader, out io.Writer) error {
	runtime.LockOSThread() // a message belongs to the thread whose call failed
	defer runtime.UnlockOSThread()
	l, err := Open(s.API, library)
	if err != nil {
		return err
	}
	greeting, err := l.greet()
	if err != nil {
		return err
	}
	return serve(greeting, s.Open(l, mode), in, out)
}

func serve(greeting Greeting, compute Computer, in io.Reader, out io.Writer) error {
	scratch, err := os.MkdirTemp("", "anynpu-cases-")
	if err != nil {
		return err
	}
	defer os.RemoveAll(scratch)
	enc := json.NewEncoder(out)
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

// Judge is the result of a case that passed when violated is nil.
func Judge(violated error) Result {
	if violated != nil {
		return Result{Status: Fail, Message: violated.Error()}
	}
	return Result{Status: Pass}
}
