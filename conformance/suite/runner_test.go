package suite

import (
	"bufio"
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/anynpu/anynpu/internal/leak"
)

const childVariable = "ANYNPU_TEST_CHILD"

// The test binary stands in for the child: it answers, fails, dies or hangs as the case's name says.
func TestMain(m *testing.M) {
	switch os.Getenv(childVariable) {
	case "":
		os.Exit(leak.Run(m, nil))
	case libc.Name:
		if err := libcRules().Serve("libc.so.6", os.Getenv("TEST_MODE")); err != nil {
			fmt.Fprintln(os.Stderr, err)
			os.Exit(2)
		}
		return
	case "unusable":
		libcRules().Serve("no/such/library.so", "") //nolint:errcheck // it has told its parent
		os.Exit(2)
	}
	err := ServeCases(Greeting{Device: "fake", Version: "7"}, func(t Task) (Result, error) {
		id := t.ID
		if err := os.WriteFile(t.Dir+"/left behind", nil, 0o600); err != nil {
			return Result{}, err
		}
		switch {
		case strings.HasSuffix(id, "lacks"):
			return Result{Status: Skip}, nil
		case strings.HasSuffix(id, "wrong"):
			return Judge(errors.New("1, want " + os.Getenv("WANT"))), nil
		case id == "talks":
			return Judge(errors.New(strings.Repeat("word ", 1<<20))), nil
		case strings.HasSuffix(id, "unknown"):
			return Result{}, errors.New("no such case")
		case strings.HasSuffix(id, "die"):
			os.Stderr.WriteString("last words\n")
			os.Exit(139)
		case strings.HasSuffix(id, "hang"):
			select {}
		}
		return Judge(nil), nil
	})
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(2)
	}
}

// fake starts the stand-in.
func fake() *exec.Cmd {
	c := exec.Command(os.Args[0])
	c.Env = append(os.Environ(), childVariable+"=1")
	return c
}

func TestRunner_deathAndHangAreResults(t *testing.T) {
	scratch := t.TempDir()
	t.Setenv("TMPDIR", scratch)
	bound := func(id string) time.Duration {
		if strings.HasSuffix(id, "hang") {
			return 200 * time.Millisecond
		}
		return DefaultTimeout
	}
	var jobs []job
	k := &kind{file: &file{path: "fake"}, command: fake}
	for _, id := range []string{"a", "die", "b", "hang", "c", "lacks", "unknown"} {
		jobs = append(jobs, job{kind: k, task: Task{ID: id}})
	}
	results, err := (&pool{workers: 2, bound: bound}).run(t.Context(), jobs)
	require.NoError(t, err)
	var got []Status
	for _, x := range results {
		got = append(got, x.Status)
		assert.Equal(t, Greeting{Device: "fake", Version: "7"}, x.greeting)
	}
	assert.Equal(t, []Status{Pass, Crash, Pass, Hang, Pass, Skip, Crash}, got)
	left, err := os.ReadDir(scratch)
	require.NoError(t, err)
	assert.Empty(t, left, "folders of cases are removed, also of those that died")
	assert.Contains(t, results[1].Message, "last words")
	assert.Contains(t, results[6].Message, "no such case")
}

// unusable starts a child that cannot open its library.
func unusable() *exec.Cmd {
	c := exec.Command(os.Args[0])
	c.Env = append(os.Environ(), childVariable+"=unusable")
	return c
}

func TestRunner_unusableLibrary(t *testing.T) {
	r := &Runner{Library: "x", Timeout: time.Second, Command: unusable}
	results, _, err := r.Run([]string{"a", "b"})
	assert.ErrorContains(t, err, "the suite cannot use x: ")
	assert.ErrorContains(t, err, "no/such/library.so")
	assert.Equal(t, []Status{NotRun, NotRun}, []Status{results[0].Status, results[1].Status})
}

// A library that ends the process, or hangs, while it is loaded is judged: two cases say so, the others are not run.
func TestRunner_badEndOfLoadingIsAResult(t *testing.T) {
	for command, want := range map[string]Result{
		"exit 1":     {Status: Crash, Message: "exit code 1 while the library is loaded"},
		"kill -7 $$": {Status: Crash, Message: "SIGBUS while the library is loaded", Signal: "SIGBUS"},
		"sleep 99":   {Status: Hang, Message: "no end within 300ms while the library is loaded"},
	} {
		r := &Runner{Library: "x", Timeout: 300 * time.Millisecond,
			Command: func() *exec.Cmd { return exec.Command("sh", "-c", command) }}
		results, _, err := r.Run([]string{"a", "b", "c", "d"})
		require.NoError(t, err)
		for i, x := range results {
			x.ID, x.Time = "", 0
			if i < loads {
				assert.Equal(t, want, x, command)
				continue
			}
			assert.Equal(t, Result{Status: NotRun, Message: "the library cannot be loaded: " + want.Message}, x)
		}
	}
}

func TestReport_forms(t *testing.T) {
	rep := &Report{Schema: schema, API: "fake", Suite: "rules", Library: "lib.so", Counts: map[Status]int{}}
	rep.add(Result{ID: "a", Status: Pass}, Greeting{"one", "7"})
	rep.add(Result{ID: "b", Status: Crash, Message: "died"}, Greeting{})
	rep.add(Result{ID: "c", Status: Skip}, Greeting{"", "7"})
	rep.add(Result{ID: "d", Status: Fail}, Greeting{"", "7"})
	assert.Equal(t, map[Status]int{Pass: 1, Crash: 1, Skip: 1, Fail: 1}, rep.Counts)
	var junit bytes.Buffer
	require.NoError(t, rep.WriteJUnit(&junit))
	for _, part := range []string{`name="fake rules" tests="4" failures="1" errors="1" skipped="1"`, "<skipped ",
		`<property name="version" value="7"></property>`, `<property name="device" value="one"></property>`,
		`<error message="died" type="crash">died`, `<failure message="" type="fail">`} {
		assert.Contains(t, junit.String(), part)
	}
	var text bytes.Buffer
	require.NoError(t, rep.WriteJSON(&text))
	var back Report
	require.NoError(t, json.NewDecoder(bufio.NewReader(&text)).Decode(&back))
	assert.Equal(t, *rep, back)
}
