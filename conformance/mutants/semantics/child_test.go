package semantics

import (
	"os"
	"os/exec"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/anynpu/anynpu/conformance/suite"
)

const childVariable = "ANYNPU_TEST_CHILD"

// TestMain is also the child of a suite: "pass" and "skip" are what they say, "broken" fails with mutant 1 on, "once"
// fails with it the first time, "dies" does so with it. Each comes past mutant 1, and "broken" past 2.
func TestMain(m *testing.M) {
	if os.Getenv(childVariable) == "" {
		os.Exit(m.Run())
	}
	mutant := os.Getenv("ANYNPU_MUTANT_ON") == "1"
	if os.Getenv(childVariable) == "unusable" {
		os.Exit(3)
	}
	err := suite.ServeCases(suite.Greeting{}, func(t suite.Task) (suite.Result, error) {
		if os.WriteFile(t.Dir+"/own", nil, 0o600) != nil {
			os.Exit(4)
		}
		f, err := os.OpenFile(os.Getenv("ANYNPU_MUTANT_REACHED"), os.O_WRONLY, 0)
		if err != nil {
			os.Exit(5)
		}
		f.WriteAt([]byte{1}, 1) //nolint:errcheck // the test misses it
		r := suite.Result{ID: t.ID, Status: suite.Pass}
		switch t.ID {
		case "skip":
			r.Status = suite.Skip
		case "broken":
			f.WriteAt([]byte{1}, 2) //nolint:errcheck // the test misses it
			if mutant {
				r.Status = suite.Fail
			}
		case "once":
			_, err := os.Stat(os.Getenv("ANYNPU_TEST_ONCE"))
			if mutant && err != nil {
				r.Status = suite.Fail
				os.WriteFile(os.Getenv("ANYNPU_TEST_ONCE"), nil, 0o600) //nolint:errcheck // the test misses it
			}
		case "dies":
			if mutant {
				os.Exit(6)
			}
		}
		f.Close()
		return r, nil
	})
	if err != nil {
		os.Exit(7)
	}
}

// trial is one of a suite with these cases.
func trial(t *testing.T, ids ...string) *Trial {
	self, err := os.Executable()
	require.NoError(t, err)
	s := &suite.Suite{API: &suite.API{Name: "test", Soname: "lib.so"}, Name: "rules",
		Environ: []string{"ANYNPU_TEST_ONCE=" + t.TempDir() + "/once"},
		Cases: func(string) (items []suite.Item, err error) {
			for _, id := range ids {
				items = append(items, suite.Item{ID: id})
			}
			return append(items, suite.Item{ID: "takes long", Long: true}), nil
		}}
	return &Trial{Mutants: []*Mutant{{ID: "a", Area: "core", About: "wrong"}, {ID: "b", Area: "core"}},
		Suites: []*suite.Suite{s}, Folder: t.TempDir(), Jobs: 2,
		Child: func(*suite.Suite, string, string) *exec.Cmd {
			c := exec.Command(self)
			c.Env = append(os.Environ(), childVariable+"=1")
			return c
		}}
}

func TestBaseline_notesWhatCasesComePast(t *testing.T) {
	cases, err := trial(t, "pass", "skip", "broken").Baseline()
	require.NoError(t, err)
	require.Len(t, cases, 3, "those that take long are left out")
	assert.Equal(t, []int{1}, cases[0].reaches)
	assert.Equal(t, suite.Skip, cases[1].status)
	assert.Equal(t, []int{1, 2}, cases[2].reaches)
}

func TestRun_findsWhatFailsAgain(t *testing.T) {
	for _, c := range []struct{ ids, found string }{
		{"pass skip broken", "test rules: broken: fail"},
		{"pass dies", "test rules: dies: crash"},
		{"once pass", ""},
		{"once broken", "test rules: broken: fail"},
	} {
		own := trial(t, strings.Fields(c.ids)...)
		cases, err := own.Baseline()
		require.NoError(t, err)
		o, err := own.try(1, cases)
		require.NoError(t, err)
		assert.Equal(t, c.found, o.Found, c.ids)
		left, err := os.ReadDir(own.Folder)
		require.NoError(t, err)
		assert.Empty(t, left, "children leave no files")
	}
	var out strings.Builder
	ok, err := trial(t, "pass", "broken").Run(&out, nil, true)
	require.NoError(t, err)
	assert.False(t, ok)
	assert.Contains(t, out.String(), "found     a: test rules: broken: fail\n")
	assert.Contains(t, out.String(), "survived  b (1 cases come past it, 0 are skipped)")
	assert.Contains(t, out.String(), "semantics: 1 of 2 found by conformance alone (50.0 %)")
}

func TestBaseline_libraryThatDoesNotStart(t *testing.T) {
	own := trial(t, "pass")
	whole := own.Child
	own.Child = func(s *suite.Suite, library, mode string) *exec.Cmd {
		c := whole(s, library, mode)
		c.Env = append(c.Env, childVariable+"=unusable")
		return c
	}
	_, err := own.Baseline()
	assert.ErrorIs(t, err, errUnusable)
	o, err := own.try(1, []*usual{{&group{suite: own.Suites[0]}, "pass", suite.Pass, time.Millisecond, []int{1}}})
	require.NoError(t, err)
	assert.Equal(t, "test rules: pass: crash", o.Found)
}
