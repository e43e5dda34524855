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
		if err := libcRules().Serve("libc.so.6", os.Getenv("TEST_MODE"), os.Stdin, os.Stdout); err != nil {
			fmt.Fprintln(os.Stderr, err)
			os.Exit(2)
		}
		return
	}
	err := serve(Greeting{Device: "fake", Version: "7"}, func(t task) (Result, error) {
		id := t.ID
		if err := os.WriteFile(t.Dir+"/left behind", nil, 0o600); err != nil {
			return Result{}, err
		}
		switch {
		case strings.HasSuffix(id, "lacks"):
			return Result{Status: Skip}, nil
		case strings.HasSuffix(id, "wrong"):
			return Judge(errors.New("1, want " + os.Getenv("WANT"))), nil
		case strings.HasSuffix(id, "unknown"):
			return Result{}, errors.New("no such case")
		case strings.HasSuffix(id, "die"):
			os.Stderr.WriteString("last words\n")
			os.Exit(139)
		case strings.HasSuffix(id, "hang"):
			select {}
		}
		return Judge(nil), nil
	}, os.Stdin, os.Stdout)
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
	k := &kind{library: "fake", command: fake}
	for _, id := range []string{"a", "die", "b", "hang", "c", "lacks", "unknown"} {
		jobs = append(jobs, job{k, task{ID: id}})
	}
	results, err := (&pool{workers: 2, bound: bound}).run(jobs)
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

func TestRunner_unusableLibrary(t *testing.T) {
	r := &Runner{Library: "x", Timeout: time.Second, Command: func() *exec.Cmd { return exec.Command("/bin/false") }}
	_, _, err := r.Run([]string{"a"})
	assert.ErrorContains(t, err, "cannot use x")
	assert.False(t, errors.Is(err, os.ErrNotExist))
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
	for _, part := range []string{`name="fake rules" tests="4" failures="2" skipped="1"`, "<skipped ",
		`<property name="version" value="7"></property>`, `<property name="device" value="one"></property>`,
		`<failure message="died" type="crash"></failure>`} {
		assert.Contains(t, junit.String(), part)
	}
	var text bytes.Buffer
	require.NoError(t, rep.WriteJSON(&text))
	var back Report
	require.NoError(t, json.NewDecoder(bufio.NewReader(&text)).Decode(&back))
	assert.Equal(t, *rep, back)
}
