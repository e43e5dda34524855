package remote

import (
	"context"
	"errors"
	"fmt"
	"net"
	"strings"
	"syscall"
	"unicode"

	"github.com/anynpu/anynpu/backends/remote/link"
	"github.com/anynpu/anynpu/internal/oip"
)

// failure is an error with a class.
type failure struct {
	class  link.Class
	text   string
	unsent bool // no connection was made
	lacks  bool // an address said that it has no such model
}

func (f *failure) Error() string { return string(f.class) + ": " + f.text }

func failed(c link.Class, format string, args ...any) *failure {
	return &failure{class: c, text: oneLine(fmt.Sprintf(format, args...))}
}

// maxReason bounds the letters of a server's reason.
const maxReason = 300

// oneLine makes a server's text, which may be a coloured traceback of many lines, one line without control codes. Of a
// long one the end is kept too, as tracebacks name the error last.
func oneLine(s string) string {
	var b strings.Builder
	space := false
	for rest := s; rest != ""; {
		if strings.HasPrefix(rest, "\x1b[") { // a colour: up to a letter
			end := strings.IndexFunc(rest[2:], unicode.IsLetter)
			if end < 0 {
				break
			}
			rest = rest[2+end+1:]
			continue
		}
		r := []rune(rest[:min(len(rest), 4)])[0]
		n := len(string(r))
		if r == unicode.ReplacementChar && !strings.HasPrefix(rest, string(r)) {
			n = 1 // a byte that is no letter
		}
		rest = rest[n:]
		if unicode.IsSpace(r) || !unicode.IsPrint(r) {
			space = b.Len() > 0
			continue
		}
		if space {
			b.WriteByte(' ')
			space = false
		}
		b.WriteRune(r)
	}
	if line := []rune(b.String()); len(line) > maxReason {
		half := (maxReason - 5) / 2
		return string(line[:half]) + " ... " + string(line[len(line)-half:])
	}
	return b.String()
}

// ofStatus is the failure that a status of gRPC with a text stands for; nil for oip.OK.
func ofStatus(code oip.Code, text string) *failure {
	class := link.Failed
	has := func(words ...string) bool {
		for _, w := range words {
			if strings.Contains(text, w) {
				return true
			}
		}
		return false
	}
	switch code {
	case oip.OK:
		return nil
	case oip.NotFound:
		class = link.Missing
	case oip.InvalidArgument, oip.OutOfRange:
		class = link.Refused
	case oip.ResourceExhausted:
		class = link.Busy
		if has("larger than max", "exceeds maximum", "message too large") {
			class = link.TooLarge
		}
	case oip.Unavailable:
		class = link.Down
		if has("Exceeds maximum queue size", "queue is full") {
			class = link.Busy
		}
	case oip.DeadlineExceeded:
		class = link.Late
	case oip.Canceled, oip.Aborted:
		class = link.Down
	case oip.Unauthenticated, oip.PermissionDenied:
		class = link.Denied
	case oip.Internal, oip.Unknown, oip.DataLoss:
		switch {
		case has("Stub process", "actor died", "ActorDied", "ActorUnavailable"):
			class = link.Down
		case has("ModelNotFound"):
			class = link.Missing
		}
	case oip.Unimplemented:
		class = link.Missing
	}
	return failed(class, "%v %q", code, oneLine(text))
}

// ofError is the failure of a call that did not end with a status.
func ofError(ctx context.Context, err error) *failure {
	var f *failure
	switch {
	case err == nil:
		return nil
	case errors.As(err, &f):
		return f
	case errors.Is(ctx.Err(), context.DeadlineExceeded):
		return failed(link.Late, "no answer within the deadline")
	case ctx.Err() != nil:
		return failed(link.Stopped, "given up")
	}
	text := err.Error()
	if strings.Contains(text, "x509:") || strings.Contains(text, "tls:") || strings.Contains(text, "certificate") {
		return failed(link.Denied, "%s", text)
	}
	f = failed(link.Down, "%s", text)
	if errors.Is(err, syscall.ECONNREFUSED) {
		f.text = "connection refused"
	}
	var network *net.OpError
	f.unsent = errors.As(err, &network) && network.Op == "dial"
	return f
}

// repeatable says that the run was not computed, or may be computed again: another address may be asked.
func (f *failure) repeatable() bool {
	switch f.class {
	case link.Down, link.Busy, link.Missing, link.Garbled:
		return true
	}
	return false
}
