package main

import (
	"strings"
	"testing"
)

// TestReport_prints feeds a stream of events as go test -json writes it.
func TestReport_prints(t *testing.T) {
	const events = `{"Action":"start","Package":"github.com/anynpu/anynpu/a"}
{"Action":"run","Package":"github.com/anynpu/anynpu/a","Test":"TestQuick"}
{"Action":"output","Package":"github.com/anynpu/anynpu/a","Test":"TestQuick","Output":"=== RUN   TestQuick\n"}
{"Action":"output","Package":"github.com/anynpu/anynpu/a","Test":"TestQuick","Output":"unseen\n"}
{"Action":"pass","Package":"github.com/anynpu/anynpu/a","Test":"TestQuick","Elapsed":0.1}
{"Action":"output","Package":"github.com/anynpu/anynpu/a","Test":"TestSlow/part","Output":"    a_test.go:3: wrong\n"}
{"Action":"fail","Package":"github.com/anynpu/anynpu/a","Test":"TestSlow/part","Elapsed":9}
{"Action":"output","Package":"github.com/anynpu/anynpu/a","Test":"TestSlow","Output":"=== RUN   TestSlow\n"}
{"Action":"output","Package":"github.com/anynpu/anynpu/a","Test":"TestSlow","Output":"--- FAIL: TestSlow (9.00s)\n"}
{"Action":"fail","Package":"github.com/anynpu/anynpu/a","Test":"TestSlow","Elapsed":9}
{"Action":"output","Package":"github.com/anynpu/anynpu/a","Test":"TestNot","Output":"    a_test.go:9: no valgrind here\n"}
{"Action":"output","Package":"github.com/anynpu/anynpu/a","Test":"TestNot","Output":"--- SKIP: TestNot (0.00s)\n"}
{"Action":"skip","Package":"github.com/anynpu/anynpu/a","Test":"TestNot","Elapsed":0}
{"Action":"output","Package":"github.com/anynpu/anynpu/a","Output":"FAIL\tgithub.com/anynpu/anynpu/a\t9.1s\n"}
{"Action":"fail","Package":"github.com/anynpu/anynpu/a","Elapsed":9.1}
{"ImportPath":"github.com/anynpu/anynpu/b","Action":"build-output","Output":"b/b.go:1:1: expected 'package'\n"}
not an event`
	const want = `    a_test.go:3: wrong
--- FAIL: TestSlow (9.00s)
SKIP a: TestNot: no valgrind here
FAIL	github.com/anynpu/anynpu/a	9.1s
b/b.go:1:1: expected 'package'
not an event
3 tests, 1 skipped; the slowest:
     9.0 s  a.TestSlow
`
	var out strings.Builder
	r := newReport(&out)
	for _, line := range strings.Split(events, "\n") {
		r.line(line)
	}
	r.slowest(1)
	if out.String() != want {
		t.Errorf("printed\n%s\nwant\n%s", out.String(), want)
	}
}

// TestRun_returnsTheExitCode runs go test itself on a package that does not exist.
// A process that dies ends none of its tests: what they wrote is printed when the package fails.
func TestReport_printsWhatADeadProcessWrote(t *testing.T) {
	const events = `{"Action":"run","Package":"github.com/anynpu/anynpu/a","Test":"TestDies"}
{"Action":"output","Package":"github.com/anynpu/anynpu/a","Test":"TestDies","Output":"fatal error: all is lost\n"}
{"Action":"output","Package":"github.com/anynpu/anynpu/ab","Test":"TestOther","Output":"unseen\n"}
{"Action":"output","Package":"github.com/anynpu/anynpu/a","Output":"FAIL\tgithub.com/anynpu/anynpu/a\t0.1s\n"}
{"Action":"fail","Package":"github.com/anynpu/anynpu/a","Elapsed":0.1}`
	var out strings.Builder
	r := newReport(&out)
	for line := range strings.Lines(events) {
		r.line(strings.TrimSuffix(line, "\n"))
	}
	if got := out.String(); !strings.Contains(got, "fatal error: all is lost") || strings.Contains(got, "unseen") {
		t.Errorf("printed %q", got)
	}
}

func TestRun_returnsTheExitCode(t *testing.T) {
	var out strings.Builder
	code, err := run(&out, []string{"-count=1", "./no-such-package"})
	if err != nil || code == 0 {
		t.Errorf("exit code %d, error %v: want a code other than 0 and no error", code, err)
	}
}
