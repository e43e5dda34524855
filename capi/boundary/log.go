package boundary

import (
	"fmt"
	"strconv"
	"strings"
	"sync/atomic"
	"unicode"
	"unicode/utf8"

	"golang.org/x/sys/unix"

	"github.com/anynpu/anynpu/core/fault"
	"github.com/anynpu/anynpu/core/mem"
)

// A Level says how much a component reports.
type Level int32

// The levels, each with all before it.
const (
	LevelOff Level = iota
	LevelError
	LevelWarn
	LevelInfo
	LevelDebug
	LevelTrace
)

var levelNames = [...]string{"off", "error", "warn", "info", "debug", "trace"}

func parseLevel(s string) (Level, bool) {
	for i, name := range levelNames {
		if strings.EqualFold(s, name) {
			return Level(i), true
		}
	}
	return 0, false
}

// A logSink writes lines to one file descriptor. It is set up once, from the environment, when Go starts.
type logSink struct {
	fd         int
	torn, told atomic.Bool // the last line was written in part; that lines are missing was told
	level      Level       // of components without an own one
	components map[string]Level
	sink       atomic.Pointer[callback]
}

var logger = newLogSink(Getenv("ANYNPU_LOG"), Getenv("ANYNPU_LOG_FILE"))

// openLogFile opens a log file to append: one that only its owner reads, or what is there, but no link. A FIFO must not
// hold the program.
func openLogFile(file string) (int, error) {
	if fd, ok := map[string]int{"/dev/stdout": 1, "/dev/stderr": 2}[file]; ok {
		return fd, nil
	}
	const flags = unix.O_WRONLY | unix.O_CREAT | unix.O_APPEND | unix.O_NOFOLLOW | unix.O_NONBLOCK | unix.O_NOCTTY | unix.O_CLOEXEC
	return unix.Open(file, flags, 0o600)
}

// newLogSink reads ANYNPU_LOG, a comma-separated list of LEVEL and COMPONENT=LEVEL, and opens ANYNPU_LOG_FILE, if set.
func newLogSink(levels, file string) *logSink {
	l := &logSink{fd: 2, level: LevelError, components: map[string]Level{}}
	if file != "" {
		fd, err := openLogFile(file)
		if err != nil {
			l.write(LevelError, "boundary", "log goes to stderr", "ANYNPU_LOG_FILE", file, "error", err)
		} else {
			l.fd = fd
		}
	}
	for _, item := range strings.Split(levels, ",") {
		item = strings.TrimSpace(item)
		component, name, found := strings.Cut(item, "=")
		if !found {
			component, name = "", item
		}
		level, ok := parseLevel(name)
		switch {
		case item == "":
		case !ok:
			l.write(LevelError, "boundary", "unknown level ignored", "ANYNPU_LOG", item, "levels",
				strings.Join(levelNames[:], " "))
		case component == "":
			l.level = level
		default:
			l.components[component] = level
		}
	}
	return l
}

func (l *logSink) enabled(level Level, component string) bool {
	if own, ok := l.components[component]; ok {
		return level <= own
	}
	return level <= l.level
}

func (l *logSink) write(level Level, component, message string, pairs ...any) {
	recordMessage(level, component, message, pairs)
	if l.enabled(level, component) {
		l.emit(level, component, message, pairs...)
	}
}

func (l *logSink) emit(level Level, component, message string, pairs ...any) {
	text := eventText(message, pairs)
	if l.callback(level, component, text) {
		return
	}
	line := component + ": " + text + "\n"
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

// eventText is an event as one line without its component.
func eventText(message string, pairs []any) string {
	var b strings.Builder
	b.WriteString(fault.Printable(message))
	for i := 0; i+1 < len(pairs); i += 2 {
		fmt.Fprintf(&b, " %v=%s", pairs[i], quoteValue(fmt.Sprint(pairs[i+1])))
	}
	return b.String()
}

// quoteValue keeps an event on one line and its pairs separable.
func quoteValue(s string) string {
	plain := s != "" && utf8.ValidString(s) && !strings.ContainsFunc(s, func(r rune) bool {
		return unicode.IsSpace(r) || r == '"' || r == '=' || !unicode.IsPrint(r)
	})
	if plain {
		return s
	}
	return strconv.Quote(s)
}

// SetDefaultLevel sets the level of a component that ANYNPU_LOG does not name. Only package initializers may call it.
func SetDefaultLevel(component string, level Level) {
	if _, named := logger.components[component]; !named {
		logger.components[component] = level
	}
}

// LogEnabled says whether Log would write.
func LogEnabled(level Level, component string) bool { return logger.enabled(level, component) }

// Log writes one line, "component: message key=value ...", to stderr or ANYNPU_LOG_FILE if ANYNPU_LOG asks for the
// level. pairs alternate between keys and values.
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
