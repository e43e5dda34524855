package strangers

import (
	"encoding/json"
	"encoding/xml"
	"flag"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/anynpu/anynpu/conformance/suite"
)

// Limits of a run of the command and its children, in bytes.
const (
	mostMemory = 500 << 20
	mostDisk   = 500 << 20
)

// everything is the variable that asks for more than a sample: "kinds" for each kind of library with each API, in few
// cases; "all" or names of APIs for all their cases, with the limits that users have.
const (
	everything = "ANYNPU_STRANGERS"
	kinds      = "kinds"
)

// outcome is what a run of the command left behind.
type outcome struct {
	code     int
	seconds  float64
	out, err string
	document suite.Document
	junit    junit
	page     string
}

type junit struct {
	Suites []struct {
		Cases []struct {
			Class   string   `xml:"classname,attr"`
			Failure *problem `xml:"failure"`
			Error   *problem `xml:"error"`
		} `xml:"testcase"`
	} `xml:"testsuite"`
}

type problem struct {
	Type string `xml:"type,attr"`
	Text string `xml:",chardata"`
}

// command builds the command.
func command(t *testing.T) string {
	file := filepath.Join(t.TempDir(), "conformance")
	out, err := exec.Command("go", "build", "-o", file, "../cmd/conformance").CombinedOutput()
	require.NoError(t, err, "%s", out)
	return file
}

// judge runs the command with a library of an API. It must end, with its reports, within the limits, and leave nothing
// in the folder of temporary files.
func (s *subject) judge(t *testing.T, command, library string, flags ...string) *outcome {
	dir := t.TempDir()
	scratch := filepath.Join(dir, "tmp")
	require.NoError(t, os.Mkdir(scratch, 0o700))
	report := func(ext string) string { return filepath.Join(dir, "report."+ext) }
	args := append([]string{"all", "--api", s.Name, "--library", s.Name + "=" + library, "--html", report("html"),
		"--json",
		report("json"), "--junit", report("xml")}, flags...)
	cmd := exec.Command(command, args...)
	cmd.Dir = root
	cmd.Env = append(os.Environ(), "TMPDIR="+scratch, "ANYNPU_LOG=off", "GOGC=")
	out, err := os.Create(filepath.Join(dir, "out"))
	require.NoError(t, err)
	defer out.Close()
	errs, err := os.Create(filepath.Join(dir, "err"))
	require.NoError(t, err)
	defer errs.Close()
	cmd.Stdout, cmd.Stderr = out, errs
	start := time.Now()
	require.NoError(t, cmd.Start())
	most, stop := &usage{}, make(chan struct{})
	go most.watch(cmd.Process.Pid, scratch, stop)
	cmd.Wait() //nolint:errcheck // its exit code is judged
	close(stop)
	o := &outcome{code: cmd.ProcessState.ExitCode(), seconds: time.Since(start).Seconds()}
	o.out, o.err = text(t, out.Name()), text(t, errs.Name())
	require.NotEqual(t, -1, o.code, "%s", o.err)
	most.mu.Lock()
	defer most.mu.Unlock()
	largest := cmd.ProcessState.SysUsage().(*syscall.Rusage).Maxrss >> 10
	t.Logf("%s: exit code %d, %.1f s, %d MB of memory (largest process %d MB), %d MB of disk", s.Name, o.code, o.seconds,
		most.memory>>20, largest, most.disk>>20)
	assert.Less(t, most.memory, int64(mostMemory), "bytes of memory")
	assert.Less(t, largest, int64(mostMemory>>20), "megabytes of the largest process")
	assert.Less(t, most.disk, int64(mostDisk), "bytes of temporary files")
	left, err := os.ReadDir(scratch)
	require.NoError(t, err)
	assert.Empty(t, left, "temporary files are removed")
	o.page = text(t, report("html"))
	require.NoError(t, json.Unmarshal([]byte(text(t, report("json"))), &o.document), o.err)
	require.NoError(t, xml.Unmarshal([]byte(text(t, report("xml"))), &o.junit))
	return o
}

func text(t *testing.T, file string) string {
	b, err := os.ReadFile(file)
	require.NoError(t, err)
	return string(b)
}

// statuses counts the cases of a run by their outcome.
func (o *outcome) statuses() map[suite.Status]int {
	out := map[suite.Status]int{}
	for _, a := range o.document.APIs {
		for _, s := range a.Suites {
			for _, r := range s.Reports {
				for k, n := range r.Counts {
					out[k] += n
				}
			}
		}
	}
	return out
}

// failures lists the first cases that did not pass, a line each.
func (o *outcome) failures() string {
	const most = 12
	var out strings.Builder
	for _, a := range o.document.APIs {
		for _, f := range a.Failures[:min(len(a.Failures), most)] {
			fmt.Fprintf(&out, "\n%s %s %s and %d alike: %s", f.Suite, f.ID, f.Status, len(f.Alike), f.Message)
		}
	}
	return out.String()
}

// message is that of the first case with an outcome.
func (o *outcome) message(s suite.Status) string {
	for _, a := range o.document.APIs {
		for _, f := range a.Failures {
			if f.Status == s {
				return f.Message
			}
		}
	}
	return ""
}

// expected is what comes of a kind of library: the outcome that some cases have, if it can be foretold, what the
// message of the first of these says, EVENT standing for the function and LIMIT for the time, and whether any case may
// pass.
var expected = []struct {
	kind, says string
	status     suite.Status
	passes     bool
	whole      bool // all cases run if they are asked for
}{
	{prints, "", suite.Pass, true, true},
	{hangsAtLoad, "no end within LIMIT while the library is loaded", suite.Hang, false, true},
	{hangsInACall, "no end within LIMIT in EVENT", suite.Hang, true, true},
	{hangsAtExit, "what the library does at exit hangs", suite.Hang, true, true},
	{wrong, "", suite.Fail, true, true},
	{fails, "", suite.Fail, true, true},
	{crashes, "SIGSEGV in EVENT: I am about to die", suite.Crash, true, false},
	{crashesAtExit, "the process ended badly: SIGSEGV when the process ends", suite.Crash, true, false},
	{closes, "", "", true, false},
	{writes, "", "", true, false},
	{forks, "", suite.Pass, true, false},
	{exits, "exit code 0 in EVENT", suite.Crash, true, false},
	{strays, "", suite.Pass, true, false},
}

// The libraries are in build/lib, and a C compiler is there. Tests mostly wait, so that more than one runs at a time.
func TestMain(m *testing.M) {
	flag.Parse()
	if asked := os.Getenv(everything); asked == "" || asked == kinds {
		if err := flag.Set("test.parallel", "6"); err != nil {
			panic(err)
		}
	}
	os.Exit(m.Run())
}

// TestStrangers runs a few cases of each API: each kind of library with two of the APIs, in turn, so that each API
// meets at least five kinds.
func TestStrangers(t *testing.T) {
	if testing.Short() {
		t.Skip("what computes are child processes: a short run, as that under the race detector, sees nothing of them")
	}
	conformance := command(t)
	whole := os.Getenv(everything)
	sample := whole == ""
	if whole == kinds {
		whole = ""
	}
	for i, e := range expected {
		for j, s := range subjects {
			if turn := (j - 2*i%len(subjects) + len(subjects)) % len(subjects); sample && turn > 1 {
				continue
			}
			if whole != "" && (!e.whole || whole != "all" && !strings.Contains(whole, s.Name)) {
				continue
			}
			t.Run(e.kind+"/"+s.Name, func(t *testing.T) {
				if whole == "" {
					t.Parallel()
				}
				limit := "1m0s"
				flags := []string{"--run", s.run}
				if e.kind == fails {
					flags = []string{"--run", s.refused}
				}
				if whole != "" {
					flags = nil
				}
				if s.Board != "" {
					flags = append(flags, "--board", "rk3588")
				}
				if e.status == suite.Hang {
					limit = "5s"
					flags = append(flags, "--timeout", limit)
					if whole == "" {
						flags = append(flags, "--hangs", "1")
					}
				}
				o := s.judge(t, conformance, s.build(t, e.kind), flags...)
				counts := o.statuses()
				if whole != "" {
					t.Logf("%v%s", counts, o.failures())
				}
				if e.status != "" {
					assert.Positive(t, counts[e.status], "%v\n%s%s", counts, clip(o.out), o.err)
				}
				says := strings.NewReplacer("EVENT", s.event, "LIMIT", limit).Replace(e.says)
				assert.Contains(t, o.message(e.status), says)
				switch {
				case e.status == suite.Pass && whole == "":
					assert.Zero(t, o.code, "%v\n%s%s", counts, clip(o.out), o.err)
				case e.status != "" && e.status != suite.Pass:
					assert.Equal(t, 1, o.code)
				}
				assert.True(t, e.passes || counts[suite.Pass] == 0, "%v", counts)
				assert.Contains(t, o.page, "</html>")
				o.judgeJUnit(t, s.Name, counts)
			})
		}
	}
}

func clip(text string) string { return text[:min(len(text), 4000)] }

// judgeJUnit demands that every case that failed has its rule, and the kind of element that its outcome is.
func (o *outcome) judgeJUnit(t *testing.T, api string, counts map[suite.Status]int) {
	errors, failures := 0, 0
	for _, in := range o.junit.Suites {
		for _, c := range in.Cases {
			if !strings.HasPrefix(c.Class, api+".") {
				t.Errorf("a class is %q", c.Class)
			}
			for _, p := range []*problem{c.Error, c.Failure} {
				if p != nil && (!strings.Contains(p.Text, "rule: ") || !strings.Contains(p.Text, "source: ")) {
					t.Errorf("a problem without rule or source: %q", p.Text)
				}
			}
			if c.Error != nil {
				errors++
			}
			if c.Failure != nil {
				failures++
			}
		}
	}
	assert.Equal(t, counts[suite.Crash]+counts[suite.Hang], errors)
	assert.Equal(t, counts[suite.Fail], failures)
}
