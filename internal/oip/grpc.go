package oip

import (
	"encoding/binary"
	"fmt"
	"strconv"
	"strings"
	"time"
)

// Code is a status of gRPC.
type Code uint32

// The statuses.
const (
	OK Code = iota
	Canceled
	Unknown
	InvalidArgument
	DeadlineExceeded
	NotFound
	AlreadyExists
	PermissionDenied
	ResourceExhausted
	FailedPrecondition
	Aborted
	OutOfRange
	Unimplemented
	Internal
	Unavailable
	DataLoss
	Unauthenticated
)

var codes = [...]string{"OK", "Canceled", "Unknown", "InvalidArgument", "DeadlineExceeded", "NotFound", "AlreadyExists",
	"PermissionDenied", "ResourceExhausted", "FailedPrecondition", "Aborted", "OutOfRange", "Unimplemented", "Internal",
	"Unavailable", "DataLoss", "Unauthenticated"}

// String returns the name, e.g. "NotFound".
func (c Code) String() string {
	if int(c) < len(codes) {
		return codes[c]
	}
	return "code " + strconv.FormatUint(uint64(c), 10)
}

// CodeOfHTTP returns the status that a response of HTTP without one of gRPC stands for, as gRPC's specification has it.
func CodeOfHTTP(status int) Code {
	switch status {
	case 400:
		return Internal
	case 401:
		return Unauthenticated
	case 403:
		return PermissionDenied
	case 404:
		return Unimplemented
	case 429, 502, 503, 504:
		return Unavailable
	}
	return Unknown
}

// PrefixSize is the length of what precedes each message of a gRPC stream: a byte that is 1 for a compressed message,
// and the length as a big-endian uint32.
const PrefixSize = 5

// AppendPrefix appends the prefix of an uncompressed message of size bytes.
func AppendPrefix(b []byte, size int) []byte {
	return binary.BigEndian.AppendUint32(append(b, 0), uint32(size))
}

// ParsePrefix reads a prefix.
func ParsePrefix(b [PrefixSize]byte) (size int64, compressed bool) {
	return int64(binary.BigEndian.Uint32(b[1:])), b[0] != 0
}

// Timeout returns the value of the header grpc-timeout for d: at most 8 digits and a unit, rounded up.
func Timeout(d time.Duration) string {
	if d <= 0 {
		return "0n"
	}
	for _, u := range [...]struct {
		name byte
		unit time.Duration
	}{{'n', time.Nanosecond}, {'u', time.Microsecond}, {'m', time.Millisecond}, {'S', time.Second}, {'M', time.Minute}} {
		if n := (d-1)/u.unit + 1; n <= 99999999 {
			return strconv.FormatInt(int64(n), 10) + string(u.name)
		}
	}
	return strconv.FormatInt(int64((d-1)/time.Hour+1), 10) + "H"
}

// ParseTimeout reads a value of the header grpc-timeout.
func ParseTimeout(s string) (time.Duration, error) {
	if len(s) < 2 || len(s) > 9 {
		return 0, fmt.Errorf("grpc-timeout %q: want 1 to 8 digits and a unit", s)
	}
	n, err := strconv.ParseUint(s[:len(s)-1], 10, 63)
	unit, ok := map[byte]time.Duration{'n': 1, 'u': time.Microsecond, 'm': time.Millisecond, 'S': time.Second,
		'M': time.Minute, 'H': time.Hour}[s[len(s)-1]]
	if err != nil || !ok {
		return 0, fmt.Errorf("grpc-timeout %q: want 1 to 8 digits and a unit", s)
	}
	const most = 1<<63 - 1
	if n > most/uint64(unit) {
		return most, nil
	}
	return time.Duration(n) * unit, nil
}

// EncodeMessage returns a text as the header grpc-message holds it: bytes outside of printable ASCII, and percent
// signs, as % and two hexadecimal digits.
func EncodeMessage(s string) string {
	var b strings.Builder
	for i := range len(s) {
		if c := s[i]; c >= ' ' && c <= '~' && c != '%' {
			b.WriteByte(c)
		} else {
			fmt.Fprintf(&b, "%%%02X", c)
		}
	}
	return b.String()
}

// DecodeMessage returns the text of a header grpc-message. What is not well encoded stays as it is.
func DecodeMessage(s string) string {
	if !strings.Contains(s, "%") {
		return s
	}
	var b strings.Builder
	for i := 0; i < len(s); i++ {
		if s[i] == '%' && i+2 < len(s) {
			if v, err := strconv.ParseUint(s[i+1:i+3], 16, 8); err == nil {
				b.WriteByte(byte(v))
				i += 2
				continue
			}
		}
		b.WriteByte(s[i])
	}
	return strings.ToValidUTF8(b.String(), "\uFFFD")
}
