package suite

import (
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// TestEmit_programsDoWhatTheirCasesDo needs a C compiler.
func TestEmit_programsDoWhatTheirCasesDo(t *testing.T) {
	o := Options{Library: func(*API) string { return "libc.so.6" }, Workers: 1,
		Child: func(_ *Suite, _, mode string) *exec.Cmd {
			c := exec.Command(os.Args[0])
			c.Env = append(os.Environ(), childVariable+"="+libc.Name, "TEST_MODE="+mode)
			return c
		}}
	for id, want := range map[string]struct {
		status Status
		prints string // by the program
	}{
		"2_ncmp/same": {Pass, "passed\n"},
		"2_ncmp/wrong": {Fail, "FAIL: strncmp((void *)m0, (void *)m1, 2)\n" +
			"  expected no code of the API (7)\n  got SAME (0)\n"},
		"1_len/text": {Pass, "passed\n"},
	} {
		r, source, err := Emit([]*Suite{libcRules()}, o, id)
		require.NoError(t, err, id)
		assert.Equal(t, want.status, r.Status, id)
		program := filepath.Join(t.TempDir(), "program")
		require.NoError(t, os.WriteFile(program+".c", []byte(source), 0o600))
		out, err := exec.Command("cc", "-Wall", "-Wextra", "-Werror", program+".c", "-o", program, "-ldl", "-lpthread",
			"-lm").CombinedOutput()
		require.NoError(t, err, "%s: %s", id, out)
		out, err = exec.Command(program).CombinedOutput()
		if want.status == Pass {
			assert.NoError(t, err, id)
		} else {
			assert.EqualError(t, err, "exit status 1", id)
		}
		assert.Equal(t, want.prints, string(out), id)
	}
	_, _, err := Emit([]*Suite{libcRules()}, o, "4_nothing/at_all")
	assert.ErrorContains(t, err, `no case "4_nothing/at_all"`)
}

func TestReproduce_comparesCasesAndPrograms(t *testing.T) {
	s := libcRules()
	s.Modes = s.Modes[:1]
	o := Options{Library: func(*API) string { return "libc.so.6" }, Workers: 2, Filter: "2_ncmp",
		Child: func(*Suite, string, string) *exec.Cmd {
			c := exec.Command(os.Args[0])
			c.Env = append(os.Environ(), childVariable+"="+libc.Name, "TEST_MODE=short")
			return c
		}}
	var out strings.Builder
	good, err := Reproduce([]*Suite{s}, o, Reproduction{Compile: []string{"cc"}}, &out)
	require.NoError(t, err)
	assert.True(t, good, out.String())
	assert.Equal(t, "libc rules: 2 programs do what their cases do, 0 do not, 0 skipped\n", out.String())
	good, err = Reproduce([]*Suite{s}, o, Reproduction{Compile: []string{"false"}}, io.Discard)
	require.NoError(t, err)
	assert.False(t, good, "nothing can be compiled")
}
