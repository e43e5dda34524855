package boundary

import (
	"sync/atomic"

	"golang.org/x/sys/unix"

	"github.com/anynpu/anynpu/core/logging"
	"github.com/anynpu/anynpu/core/mem"
)

// A Level says how much a component reports.
type Level = logging.Level

// The levels, each with all before it.
const (
	LevelOff   = logging.Off
	LevelError = logging.Error
	LevelWarn  = logging.Warn
	LevelInfo  = logging.Info
	LevelDebug = logging.Debug
	LevelTrace = logging.Trace
)

// A logSink writes lines to one file descriptor. It is set up once, from the environment, when Go starts.
type logSink struct {
	fd         int
	torn, told atomic.Bool // the last line was written in part; that lines are missing was logged
	levels     logging.Levels
	shown      logging.Shown // what fd is
	repeats    logging.Repeats
	sink       atomic.Pointer[callback]
}

var logger = newLogSink(Getenv("ANYNPU_LOG"), Getenv("ANYNPU_LOG_FILE"))

// newLogSink reads ANYNPU_LOG and opens ANYNPU_LOG_FILE, if set.
func newLogSink(levels, file string) *logSink {
	asked, unknown := logging.Read(levels)
	l := &logSink{fd: 2, levels: asked}
	if file != "" {
		fd, err := logging.Open(file)
		if err != nil {
			l.write(LevelError, "boundary", "log goes to stderr [boundary-log-file]", "ANYNPU_LOG_FILE", file, "error", err)
		} else {
			l.fd = fd
		}
	}
	l.shown = logging.On(l.fd, Getenv)
	for _, pairs := range unknown {
		l.write(LevelError, "boundary", "unknown level ignored [boundary-log-level]", pairs...)
	}
	return l
}

func (l *logSink) enabled(level Level, component string) bool {
	return l.levels.Enabled(level, component)
}

func (l *logSink) write(level Level, component, message string, pairs ...any) {
	recordMessage(level, component, message, pairs)
	if l.enabled(level, component) {
		l.emit(level, component, message, pairs...)
	}
}

func (l *logSink) emit(level Level, component, message string, pairs ...any) {
	text := logging.Text(message, pairs)
	if l.callback(level, component, text) {
		return
	}
	line, ok := component+": "+text, true
	if level <= LevelWarn {
		line, ok = l.repeats.Next(line)
	}
	if !ok {
		return
	}
	line = l.shown.Line(level, line) + "\n"
	if l.torn.Swap(false) {
		line = "\n" + line
	}
	n, err := writeAll(l.fd, []byte(line))
	if err == nil {
		return
	}
	l.torn.Store(n > 0)
	if l.fd != 2 && !l.told.Swap(true) {
		_, _ = writeAll(2, []byte("boundary: lines are missing in the log, which cannot be written: "+err.Error()+"\n"))
	}
}

// writeAll writes to a descriptor and returns how much it has written. A file that would become larger than the process
// may have files is not touched: the kernel would send SIGXFSZ, which ends a program.
func writeAll(fd int, data []byte) (done int, err error) {
	var st unix.Stat_t
	if err := unix.Fstat(fd, &st); err == nil && st.Mode&unix.S_IFMT == unix.S_IFREG {
		if err := mem.CheckFileSize(st.Size + int64(len(data))); err != nil {
			return 0, err
		}
	}
	for done < len(data) {
		n, err := unix.Write(fd, data[done:])
		if err != nil && err != unix.EINTR {
			return done, err
		}
		done += max(n, 0)
	}
	return done, nil
}

// SetDefaultLevel sets the level of a component that ANYNPU_LOG does not name. Only package initializers may call it.
func SetDefaultLevel(component string, level Level) {
	if _, named := logger.levels.Components[component]; !named {
		logger.levels.Components[component] = level
	}
}

// LogEnabled says whether Log would write.
func LogEnabled(level Level, component string) bool { return logger.enabled(level, component) }

// Log writes one line, "component: message key=value ... [id]", to stderr or ANYNPU_LOG_FILE if ANYNPU_LOG asks for the
// level. pairs alternate between keys and values. The message of an error or a warning ends with its id in brackets,
// unless an error among the values has one.
func Log(level Level, component, message string, pairs ...any) {
	logger.write(level, component, message, pairs...)
}

// Caution writes a warning on which it depends whether a program's results are right. It is shown wherever errors are;
// other warnings have to be asked for.
func Caution(component, message string, pairs ...any) { logger.caution(component, message, pairs...) }

func (l *logSink) caution(component, message string, pairs ...any) {
	recordMessage(LevelWarn, component, message, pairs)
	if l.enabled(LevelError, component) {
		l.emit(LevelWarn, component, message, pairs...)
	}
}
