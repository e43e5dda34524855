// Gotest runs go test and prints what a reader of a suite wants: a line per package, the whole output of what failed,
// each skipped test with its reason, and the slowest tests.
//
//	go run ./scripts/gotest GO-TEST-ARGUMENT...
//
// Its exit code is that of go test. Where the variables are not set, tests collect garbage at GOGC=400, an eighth of
// their processor seconds less, and CGO_CFLAGS=-O0 has C compiled in half the time; that of the library is optimized
// where C hosts test it. A test that bounds memory sets its own GOGC.
package main

import (
	"bufio"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"maps"
	"os"
	"os/exec"
	"slices"
	"strings"
)

// event is a line of go test -json (go doc cmd/test2json).
type event struct {
	Action      string
	Package     string
	ImportPath  string
	Test        string
	Elapsed     float64 // seconds
	Output      string
	FailedBuild string
}

// timed is a test that ended, or a package without tests to name.
type timed struct {
	name    string
	seconds float64
}

// report collects the events of one go test.
type report struct {
	out     io.Writer
	output  map[string][]string // by package, or package and test: lines not printed yet
	tests   []timed
	skipped int
}

func newReport(out io.Writer) *report { return &report{out: out, output: map[string][]string{}} }

// line takes one line of go test -json. A line that is no event is printed as it is.
func (r *report) line(text string) {
	var e event
	if !strings.HasPrefix(text, "{") || json.Unmarshal([]byte(text), &e) != nil {
		fmt.Fprintln(r.out, text)
		return
	}
	key := e.Package + " " + e.Test
	switch e.Action {
	case "build-output":
		io.WriteString(r.out, e.Output)
	case "output":
		// Of a package's own lines only the last, its verdict, and what stands outside of tests are of interest.
		if e.Test == "" && (strings.HasPrefix(e.Output, "ok  \t") || strings.HasPrefix(e.Output, "FAIL\t") ||
			strings.HasPrefix(e.Output, "?   \t")) {
			io.WriteString(r.out, e.Output)
			return
		}
		r.output[key] = append(r.output[key], e.Output)
	case "fail":
		if e.Test == "" { // what a process that died wrote belongs to the tests that had not ended
			for _, k := range slices.Sorted(maps.Keys(r.output)) {
				if k != key && strings.HasPrefix(k, key) {
					r.print(k)
				}
			}
		}
		r.print(key)
		r.ended(e)
	case "skip":
		if e.Test != "" {
			r.skipped++
			fmt.Fprintf(r.out, "SKIP %s: %s: %s\n", short(e.Package), e.Test, reason(r.output[key]))
		}
		delete(r.output, key)
	case "pass":
		r.ended(e)
		delete(r.output, key)
	}
}

// print prints what a failed test or package wrote.
func (r *report) print(key string) {
	for _, s := range r.output[key] {
		if !strings.HasPrefix(s, "=== ") {
			io.WriteString(r.out, s)
		}
	}
	delete(r.output, key)
}

// ended notes the seconds of a top-level test: those of its subtests are part of them.
func (r *report) ended(e event) {
	if e.Test != "" && !strings.Contains(e.Test, "/") {
		r.tests = append(r.tests, timed{short(e.Package) + "." + e.Test, e.Elapsed})
	}
}

// slowest prints the n slowest tests, the slowest first.
func (r *report) slowest(n int) {
	slices.SortStableFunc(r.tests, func(a, b timed) int {
		switch {
		case a.seconds > b.seconds:
			return -1
		case a.seconds < b.seconds:
			return 1
		}
		return strings.Compare(a.name, b.name)
	})
	if n > len(r.tests) {
		n = len(r.tests)
	}
	fmt.Fprintf(r.out, "%d tests, %d skipped; the slowest:\n", len(r.tests)+r.skipped, r.skipped)
	for _, t := range r.tests[:n] {
		fmt.Fprintf(r.out, "%8.1f s  %s\n", t.seconds, t.name)
	}
}

// reason is the text of the last call of t.Skip among a test's lines, without the place in the source.
func reason(lines []string) string {
	for _, s := range slices.Backward(lines) {
		s = strings.TrimSpace(s)
		if s == "" || strings.HasPrefix(s, "---") || strings.HasPrefix(s, "===") {
			continue
		}
		if place, text, found := strings.Cut(s, ": "); found && strings.Contains(place, ".go:") {
			return strings.TrimPrefix(text, "SKIP: ")
		}
		return strings.TrimPrefix(s, "SKIP: ")
	}
	return "no reason given"
}

// short is a package's path within the module.
func short(path string) string { return strings.TrimPrefix(path, "github.com/anynpu/anynpu/") }

func run(out io.Writer, arguments []string) (int, error) {
	c := exec.Command("go", append([]string{"test", "-json"}, arguments...)...)
	c.Env = append([]string{"GOGC=400", "CGO_CFLAGS=-O0"}, os.Environ()...) // of two values the last counts
	c.Stderr = os.Stderr
	pipe, err := c.StdoutPipe()
	if err != nil {
		return 1, err
	}
	if err := c.Start(); err != nil {
		return 1, err
	}
	r, lines := newReport(out), bufio.NewReader(pipe)
	for {
		text, err := lines.ReadString('\n')
		if text != "" {
			r.line(strings.TrimSuffix(text, "\n"))
		}
		if err != nil {
			break
		}
	}
	err = c.Wait()
	r.slowest(5)
	if failed := (*exec.ExitError)(nil); errors.As(err, &failed) {
		return failed.ExitCode(), nil
	}
	return 0, err
}

func main() {
	code, err := run(os.Stdout, os.Args[1:])
	if err != nil {
		fmt.Fprintln(os.Stderr, "gotest:", err)
	}
	os.Exit(code)
}
