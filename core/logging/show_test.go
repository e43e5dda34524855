package logging

import (
	"fmt"
	"os"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"golang.org/x/sys/unix"
)

const long = `rknn: call failed function=rknn_inputs_set result=-5 error="inputs[0].size is 3: want 4" ` +
	`[rknn-inputs-size]`

func TestShown_secondLineForTheRemedy(t *testing.T) {
	assert.Equal(t, long, Shown{}.Line(Error, long), "no terminal")
	assert.Equal(t, long, Shown{Width: 200}.Line(Error, long), "it is wide enough")
	assert.Equal(t, `rknn: call failed function=rknn_inputs_set result=-5 error="inputs[0].size is 3" [rknn-inputs-size]`+
		"\n    want 4", Shown{Width: 80}.Line(Error, long))
	assert.Equal(t, "\x1b[31mrknn\x1b[0m: x\x1b[2m [a-b]\x1b[0m", Shown{Width: 80,
		Color: true}.Line(Error, "rknn: x [a-b]"))
	assert.Equal(t, "\x1b[33mrknn\x1b[0m: x", Shown{Width: 80, Color: true}.Line(Warn, "rknn: x"))
}

func TestRemedy(t *testing.T) {
	for in, want := range map[string][2]string{
		"a: 3: want 4":                   {"a: 3", "want 4"},
		"a: 3":                           {"a: 3", ""},
		"it is not set: call f first; x": {"it is not set", "call f first; x"},
		"no verb; did you mean run?":     {"no verb", "did you mean run?"},
		`x error="a: want \"b\""`:        {`x error="a"`, `want \"b\"`},
		"path a:want b":                  {"path a:want b", ""},
		"used: nothing":                  {"used: nothing", ""},
	} {
		text, remedy := Remedy(in)
		assert.Equal(t, want, [2]string{text, remedy}, in)
	}
}

// TestOn asks a terminal, which this process makes, and what is none.
func TestOn(t *testing.T) {
	none := func(string) string { return "" }
	file, err := os.CreateTemp(t.TempDir(), "log")
	require.NoError(t, err)
	defer file.Close()
	assert.Zero(t, On(int(file.Fd()), none))
	master, err := os.OpenFile("/dev/ptmx", os.O_RDWR, 0)
	if err != nil {
		t.Skip("no terminal can be made:", err)
	}
	defer master.Close()
	fd := int(master.Fd())
	require.NoError(t, unix.IoctlSetPointerInt(fd, unix.TIOCSPTLCK, 0))
	n, err := unix.IoctlGetInt(fd, unix.TIOCGPTN)
	require.NoError(t, err)
	tty, err := os.OpenFile(fmt.Sprintf("/dev/pts/%d", n), os.O_RDWR|unix.O_NOCTTY, 0)
	require.NoError(t, err)
	defer tty.Close()
	require.NoError(t, unix.IoctlSetWinsize(fd, unix.TIOCSWINSZ, &unix.Winsize{Col: 91, Row: 20}))
	assert.Equal(t, Shown{Width: 91, Color: true}, On(int(tty.Fd()), none))
	for _, set := range []string{"NO_COLOR=1", "TERM=dumb"} {
		name, value, _ := strings.Cut(set, "=")
		assert.Equal(t, Shown{Width: 91}, On(int(tty.Fd()), func(s string) string {
			if s == name {
				return value
			}
			return ""
		}), set)
	}
}

func TestRepeats(t *testing.T) {
	var r Repeats
	written := []string{}
	for range 1500 {
		if line, ok := r.Next("a: b [c-d]"); ok {
			written = append(written, line)
		}
	}
	require.Len(t, written, 12)
	assert.Equal(t, "a: b [c-d]", written[8])
	assert.Equal(t, "a: b (the 10th time; the next line like this comes after 100) [c-d]", written[9])
	assert.Equal(t, []string{"a: b (100 times) [c-d]", "a: b (1000 times) [c-d]"}, written[10:])
	for i := range 2 * mostCounted {
		line, ok := r.Next(fmt.Sprint("other ", i))
		assert.True(t, ok)
		assert.Equal(t, fmt.Sprint("other ", i), line)
	}
	for range 20 {
		_, ok := r.Next("beyond what is counted")
		assert.True(t, ok)
	}
}
