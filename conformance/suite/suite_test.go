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
			return []Item{{"a", nil}, {"wrong", []string{"WANT=2"}}, {"b", nil}, {mode + "wrong", nil}}, nil
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
	o := Options{Library: "libfake.so", Workers: 2, JSON: filepath.Join(dir, "r.json"), JUnit: filepath.Join(dir, "r.xml"),
		Child: func(library, mode string) *exec.Cmd {
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
	o.Child = func(string, string) *exec.Cmd { return exec.Command("/bin/false") }
	_, err = judged().Run(o, io.Discard)
	assert.ErrorContains(t, err, "cannot use libfake.so")
}
