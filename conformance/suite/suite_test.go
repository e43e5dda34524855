package suite

import (
	"encoding/json"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// judged is a suite of cases that the stand-in computes, in two modes.
func judged() *Suite {
	return &Suite{
		API: &API{Name: "fake", Soname: "libfake.so"}, Name: "cases",
		Modes: []Mode{{"one", []string{"WANT=mode"}}, {"two", nil}},
		Cases: func(mode string) ([]Item, error) {
			return []Item{{ID: "a"}, {ID: "wrong", Setting: []string{"WANT=2"}}, {ID: "b"},
				{ID: mode + "wrong"}, {ID: "longwrong", Long: true}}, nil
		},
		Environ: []string{"WANT=suite"},
		Summarize: func(w io.Writer, o *Outcome) bool {
			_, err := io.WriteString(w, o.Reports[0].Mode+"\n")
			return err == nil && o.Filtered
		},
	}
}

func TestRun_settingsModesAndReports(t *testing.T) {
	dir := t.TempDir()
	o := Options{Library: func(*API) string { return "libfake.so" }, Workers: 2,
		JSON: filepath.Join(dir, "r.json"), JUnit: filepath.Join(dir, "r.xml"),
		Child: func(_ *Suite, library, mode string) *exec.Cmd {
			assert.Equal(t, "libfake.so", library)
			return fake()
		}}
	var out strings.Builder
	good, err := judged().Run(o, &out)
	require.NoError(t, err)
	assert.False(t, good)
	assert.Equal(t, "fail  onewrong (one) 1, want mode\nfail  wrong (one) 1, want 2\n"+
		"fail  twowrong (two) 1, want suite\nfail  wrong (two) 1, want 2\none\n", out.String())
	for _, mode := range []string{"one", "two"} {
		text, err := os.ReadFile(filepath.Join(dir, "r-"+mode+".json"))
		require.NoError(t, err)
		var rep Report
		require.NoError(t, json.Unmarshal(text, &rep))
		assert.Equal(t, []any{"fake", "cases", mode, 4, 2}, []any{rep.API, rep.Suite, rep.Mode, len(rep.Results),
			rep.Counts[Pass]})
		assert.FileExists(t, filepath.Join(dir, "r-"+mode+".xml"))
	}

	o.Mode, o.Filter, o.Verbose = "two", "a", true
	out.Reset()
	good, err = judged().Run(o, &out)
	require.NoError(t, err)
	assert.True(t, good)
	assert.Equal(t, "pass  a \ntwo\n", out.String())
	assert.FileExists(t, filepath.Join(dir, "r.json"), "one mode needs no suffix")

	o.Mode = "three"
	_, err = judged().Run(o, io.Discard)
	assert.ErrorContains(t, err, `fake cases: no mode "three"`)
	o.Mode, o.JSON = "one", filepath.Join(dir, "absent", "r.json")
	_, err = judged().Run(o, io.Discard)
	assert.Error(t, err)
	o.JSON = ""
	o.Child = func(*Suite, string, string) *exec.Cmd { return unusable() }
	_, err = judged().Run(o, io.Discard)
	assert.ErrorContains(t, err, "cannot use libfake.so")
}

// TestGroups_shares: each case is in one of the shares, and those that take long count in none.
func TestGroups_shares(t *testing.T) {
	items := []Item{{ID: "a"}, {ID: "b"}, {ID: "long", Long: true}, {ID: "c"}, {ID: "d"}, {ID: "e"}}
	for share, want := range [][]string{{"c"}, {"a", "d"}, {"b", "e"}} {
		var got []string
		for _, g := range groups(items, &Options{Sample: 3, Share: share}) {
			for _, c := range g.items {
				got = append(got, c.ID)
			}
		}
		assert.Equal(t, want, got, "share %d", share)
	}
}

// lengths is what the rules of libc run with.
type lengths struct{ *T }

func (l lengths) length(want int, text any) {
	got := l.Call("len", text)
	l.Check(got == uintptr(want), "%s: %d, want %d", l.Shown("len", text), got, want)
	l.Judged(want > 0)
}

// libcRules judges the C library, in two modes that differ in what the environment says.
func libcRules() *Suite {
	rules := &Rules[lengths]{API: libc, New: func(t *T) lengths { return lengths{t} }, Tally: "%d of %d rules",
		Modes: []Mode{{"short", []string{"TEXT=a"}}, {"long", []string{"TEXT=abc"}}}, Environ: []string{"TEXT=", "MORE=1"}}
	rules.All = []*Rule[lengths]{
		NewRule[lengths]("1_len", "counts up to the 0").
			OK("text", func(l lengths) { l.length(3, "abc") }).
			No("empty", func(l lengths) { l.length(0, "") }),
		NewRule[lengths]("1_modes", "counts what the mode says").
			OK("one", func(l lengths) { l.length(1, os.Getenv("TEXT")) }).In("short").
			OK("three", func(l lengths) { l.length(3, os.Getenv("TEXT")) }).In("long").
			OK("set", func(l lengths) { l.length(7, os.Getenv("TEXT")) }).With("TEXT=seven77").
			No("none", func(l lengths) { l.length(0, os.Getenv("TEXT")) }).With("TEXT="),
		NewRule[lengths]("2_ncmp", "compares so many bytes").
			OK("same", func(l lengths) { l.OK("ncmp", "abc", "abd", 2) }).
			No("wrong", func(l lengths) { l.Is(7, "ncmp", "abc", "abd", 2) }),
		NewRule[lengths]("3_null", "is no text").
			OK("mode", func(l lengths) { l.Judged(l.Mode != "" && os.Getenv("MORE") == "1") }).
			No("NULL", func(l lengths) { l.length(0, nil) }),
	}
	return rules.Suite()
}

func TestRules_judgeALibraryInChildren(t *testing.T) {
	library := func(*API) string { return "libc.so.6" }
	o := Options{Library: library, Workers: 2, Child: func(_ *Suite, _, mode string) *exec.Cmd {
		c := exec.Command(os.Args[0])
		c.Env = append(os.Environ(), childVariable+"="+libc.Name, "TEST_MODE="+mode)
		return c
	}}
	var out strings.Builder
	good, err := libcRules().Run(o, &out)
	require.NoError(t, err)
	assert.False(t, good)
	for _, mode := range []string{"short", "long"} {
		assert.Contains(t, out.String(), "fail  2_ncmp/wrong ("+mode+") strncmp(abc, abd, 2): SAME(0), want 7\n")
		assert.Contains(t, out.String(), "crash 3_null/NULL ("+mode+") ")
	}
	assert.Contains(t, out.String(), "libc rules: cases 18, failed 2 (short), failed 2 (long)\n2 of 3 functions\n"+
		"2 of 4 rules, each with a positive and a negative case, in both modes\n")
	assert.Contains(t, out.String(), "fail  no case calls strnothing\n")
}
