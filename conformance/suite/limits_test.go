package suite

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// jobsOf are jobs of one line for the stand-in.
func jobsOf(ids ...string) []job {
	k, l := &kind{file: &file{path: "fake"}, command: fake}, &line{}
	var out []job
	for _, id := range ids {
		out = append(out, job{k, l, Task{ID: id}})
	}
	return out
}

// hangsSoon bounds the cases that hang, and no others.
func hangsSoon(id string) time.Duration {
	if strings.HasSuffix(id, "hang") {
		return 200 * time.Millisecond
	}
	return DefaultTimeout
}

func TestPool_stopsALineThatHangs(t *testing.T) {
	for _, c := range []struct{ ids, want string }{
		{"hang a hang hang b", "hang pass hang hang not run"},
		{"hang a hang b hang c hang d hang e hang f hang g hang h", "hang pass hang pass hang pass hang pass hang pass " +
			"hang pass hang pass hang not run"},
	} {
		all, err := (&pool{workers: 1, hangs: 2, bound: hangsSoon}).run(t.Context(), jobsOf(strings.Fields(c.ids)...))
		require.NoError(t, err)
		var got []string
		for _, d := range all {
			got = append(got, string(d.Status))
		}
		assert.Equal(t, c.want, strings.Join(got, " "))
		assert.Contains(t, all[len(all)-1].Message, "the suite has stopped: ")
	}
}

func TestPool_endsWhenItIsInterrupted(t *testing.T) {
	scratch := t.TempDir()
	t.Setenv("TMPDIR", scratch)
	ctx, stop := context.WithCancel(t.Context())
	time.AfterFunc(300*time.Millisecond, stop)
	all, err := (&pool{workers: 1, timeout: time.Hour}).run(ctx, jobsOf("a", "hang", "b"))
	assert.EqualError(t, err, interrupted)
	assert.Equal(t, []Status{NotRun, NotRun}, []Status{all[1].Status, all[2].Status})
	left, err := os.ReadDir(scratch)
	require.NoError(t, err)
	assert.Empty(t, left)
}

func TestServe_boundsTexts(t *testing.T) {
	all, err := (&pool{workers: 1}).run(t.Context(), jobsOf("talks"))
	require.NoError(t, err)
	assert.Less(t, len(all[0].Message), mostText+40)
	assert.Contains(t, all[0].Message, "bytes more)")
}

func TestLocate_findsAFileOfTheCurrentFolder(t *testing.T) {
	dir := t.TempDir()
	t.Chdir(dir)
	require.NoError(t, os.WriteFile("libhere.so", nil, 0o600))
	assert.Equal(t, filepath.Join(dir, "libhere.so"), Locate("libhere.so"))
	assert.Equal(t, filepath.Join(dir, "no", "lib.so"), Locate("no/lib.so"))
	assert.Equal(t, "libc.so.6", Locate("libc.so.6"), "the loader finds it")
}

func TestRun_textThatMatchesNothing(t *testing.T) {
	o := Options{Filter: "nothing"}
	_, err := judged().Run(o, nil)
	assert.EqualError(t, err, `no case's name contains "nothing"`)
	_, err = RunAll([]*Suite{judged()}, Options{Filter: "longwrong"}, nil, nil)
	assert.EqualError(t, err, `all cases whose name contains "longwrong" take long: --long runs them`)
}

func TestProgress_showsALineNowAndThen(t *testing.T) {
	var out strings.Builder
	p := &Progress{To: &out, Every: time.Millisecond}
	p.begin(3)
	p.done("fake cases", &done{Result: Result{ID: "a", Status: Crash}})
	p.done("fake cases", &done{Result: Result{ID: "b", Status: NotRun}})
	for deadline := time.Now().Add(time.Minute); time.Now().Before(deadline); time.Sleep(2 * time.Millisecond) {
		p.mu.Lock()
		shown := strings.Contains(out.String(), "last fake cases b\n")
		p.mu.Unlock()
		if shown {
			break
		}
	}
	p.end()
	assert.Contains(t, out.String(), "2 of 3 cases, 1 failed, 1 not run, ")
	(*Progress)(nil).begin(1)
	(*Progress)(nil).done("", nil)
	(*Progress)(nil).end()
}

func TestEnded_isAnError(t *testing.T) {
	var ended *Ended
	assert.True(t, errors.As(fmt.Errorf("x: %w", &Ended{Status: Hang, Message: "no end"}), &ended))
	assert.Equal(t, Hang, ended.Status)
}
