package main

import (
	"strconv"
	"strings"

	"github.com/anynpu/anynpu/core/fault"
)

// byteSize is the value of a flag that is a number of bytes: digits, and K, M or G for powers of 1024.
type byteSize int64

// String returns the size with the largest letter that it is a multiple of.
func (b *byteSize) String() string {
	n, unit := int64(*b), ""
	for _, u := range []string{"K", "M", "G"} {
		if n == 0 || n%1024 != 0 {
			break
		}
		n, unit = n/1024, u
	}
	return strconv.FormatInt(n, 10) + unit
}

// Set reads a size of 1 to 2^40 bytes.
func (b *byteSize) Set(s string) error {
	digits, shift := s, 0
	if s != "" {
		if i := strings.IndexByte("KMG", s[len(s)-1]); i >= 0 {
			digits, shift = s[:len(s)-1], 10*(i+1)
		}
	}
	n, err := strconv.ParseUint(digits, 10, 41)
	if err != nil || n < 1 || n > 1<<40>>shift {
		return fault.New(fault.Argument, "want a number of bytes from 1 to 1024G, with K, M or G [tool-bytes]")
	}
	*b = byteSize(n << shift)
	return nil
}

// Type names the kind of value.
func (*byteSize) Type() string { return "bytes" }
