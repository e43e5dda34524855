package boundary

import (
	"errors"

	"github.com/anynpu/anynpu/core/fault"
)

// refusal is an error with the return code C that an API prescribes for it.
type refusal[C comparable] struct {
	code C
	msg  string
	id   string // of the message
	err  error  // cause, may be nil
}

func (r *refusal[C]) Error() string {
	if r.err == nil {
		return r.msg
	}
	return r.msg + ": " + r.err.Error()
}

func (r *refusal[C]) Unwrap() error { return r.err }

// MessageID returns the id of the refusal's own message, "" where its cause has it.
func (r *refusal[C]) MessageID() string { return r.id }

// Refuse returns an error that Codes[C].Of turns into code. The message names the argument, its value and what would
// fit, and ends with its id in brackets: "size is %d: want %d [rknn-size]". The log shows the id at the end of the
// line.
func Refuse[C comparable](code C, format string, args ...any) error {
	return RefuseFor(code, nil, format, args...)
}

// RefuseFor is Refuse with a cause, which has the id where the format has none.
func RefuseFor[C comparable](code C, err error, format string, args ...any) error {
	msg, id := fault.Message(format, args...)
	return &refusal[C]{code: code, msg: msg, id: id, err: err}
}

// Prescribed returns the code that a refusal in err carries; ok is false when there is none.
func Prescribed[C comparable](err error) (code C, ok bool) {
	if err == nil { // r would be allocated by every call that succeeds
		return code, false
	}
	var r *refusal[C]
	if errors.As(err, &r) {
		return r.code, true
	}
	return code, false
}

// Codes gives the return code of an API for each kind of error. The zero C is success.
type Codes[C comparable] map[fault.Kind]C

// Of returns the code of err: its own where the API prescribes one, else that of its kind.
func (m Codes[C]) Of(err error) C {
	if code, ok := Prescribed[C](err); ok || err == nil {
		return code
	}
	return m[fault.KindOf(err)]
}
