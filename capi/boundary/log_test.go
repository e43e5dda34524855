package boundary

import (
	"os"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"golang.org/x/sys/unix"

	"github.com/anynpu/anynpu/core/fault"
	"github.com/anynpu/anynpu/core/logging"
)

// openLog is newLogSink with an end: the one of a process has none.
func openLog(t *testing.T, levels, file string) *logSink {
	l := newLogSink(levels, file)
	t.Cleanup(func() { assert.NoError(t, unix.Close(l.fd)) })
	return l
}

func logLines(t *testing.T, levels string, write func(l *logSink)) string {
	file := filepath.Join(t.TempDir(), "log")
	l := openLog(t, levels, file)
	write(l)
	text, err := os.ReadFile(file)
	require.NoError(t, err)
	return string(text)
}

func TestLog_levelsAndComponents(t *testing.T) {
	for _, c := range []struct{ levels, want string }{
		{"", "a: e\na: c\nb: e\n"},
		{"off", ""},
		{"warn", "a: e\na: w\na: c\nb: e\n"},
		{"a=off", "b: e\n"},
		{"off,b=TRACE", "b: e\nb: t\n"},
		{" info , b=error", "a: e\na: w\na: c\nb: e\n"},
	} {
		got := logLines(t, c.levels, func(l *logSink) {
			l.write(LevelError, "a", "e")
			l.write(LevelWarn, "a", "w")
			l.caution("a", "c")
			l.write(LevelError, "b", "e")
			l.write(LevelTrace, "b", "t")
		})
		assert.Equal(t, c.want, got, "ANYNPU_LOG=%s", c.levels)
	}
}

func TestLog_oneLinePerEvent(t *testing.T) {
	got := logLines(t, "", func(l *logSink) {
		l.write(LevelError, "ohnn", "call failed", "function", "f", "error", "two\nlines", "name", "", "path", "a b", "n", 7,
			"quote", `x"y`)
	})
	assert.Equal(t, `ohnn: call failed function=f error="two\nlines" name="" path="a b" n=7 quote="x\"y"`+"\n", got)
}

// A log is read on terminals, and names in it come from files.
func TestLog_namesStayText(t *testing.T) {
	got := logLines(t, "", func(l *logSink) {
		l.write(LevelError, "ohnn", "tensor \x1b[2J\n\u202ex", "name", "\u009b31m", "bytes", "\x9b31m", "op", "a\x7fb")
	})
	assert.Equal(t, `ohnn: tensor \x1b[2J\n\u202ex name="\u009b31m" bytes="\x9b31m" op="a\x7fb"`+"\n", got)
	setLastError(&Func{Name: "f"}, fault.New(fault.Argument, "tensor \x1b[2J\u009b"))
	assert.Equal(t, `f: tensor \x1b[2J\u009b [core-argument]`, goString(cPointer(LastError())))
}

func TestLog_appendsToTheFile(t *testing.T) {
	file := filepath.Join(t.TempDir(), "log")
	for range 2 {
		openLog(t, "", file).write(LevelError, "a", "e")
	}
	text, err := os.ReadFile(file)
	require.NoError(t, err)
	assert.Equal(t, "a: e\na: e\n", string(text))
}

func TestLog_fileIsPrivateAndNoLink(t *testing.T) {
	dir := t.TempDir()
	victim, link, log := filepath.Join(dir, "victim"), filepath.Join(dir, "link"), filepath.Join(dir, "log")
	require.NoError(t, os.WriteFile(victim, []byte("as it was"), 0o666))
	require.NoError(t, os.Symlink(victim, link))
	before := unix.Umask(0)
	defer unix.Umask(before)

	_, err := logging.Open(link)
	assert.ErrorIs(t, err, unix.ELOOP)
	fd, err := logging.Open(log)
	require.NoError(t, err)
	defer unix.Close(fd)
	st, err := os.Stat(log)
	require.NoError(t, err)
	assert.Equal(t, os.FileMode(0o600), st.Mode())
	for i, name := range []string{"/dev/stdout", "/dev/stderr"} {
		fd, err := logging.Open(name)
		require.NoError(t, err)
		assert.Equal(t, i+1, fd)
	}
}

// A log file that may not grow costs lines, not the program, and its next line begins a line.
func TestLog_fileThatMayNotGrow(t *testing.T) {
	file := filepath.Join(t.TempDir(), "log")
	l := openLog(t, "", file)
	var old unix.Rlimit
	require.NoError(t, unix.Getrlimit(unix.RLIMIT_FSIZE, &old))
	require.NoError(t, unix.Setrlimit(unix.RLIMIT_FSIZE, &unix.Rlimit{Cur: 16, Max: old.Max}))
	l.told.Store(true) // the sentence on standard error is for programs
	l.write(LevelError, "a", "this line has more bytes than sixteen")
	l.write(LevelError, "a", "short")
	require.NoError(t, unix.Setrlimit(unix.RLIMIT_FSIZE, &old))
	l.torn.Store(true)
	l.write(LevelError, "a", "e")
	text, err := os.ReadFile(file)
	require.NoError(t, err)
	assert.Equal(t, "a: short\n\na: e\n", string(text))
}
