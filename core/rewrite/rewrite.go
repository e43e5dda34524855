// Package rewrite writes what generators make.
package rewrite

import (
	"bytes"
	"os"
)

// File gives a file the content text. One that has it keeps its time, so that nothing is built again that is made of
// it.
func File(name string, text []byte) error {
	if before, err := os.ReadFile(name); err == nil && bytes.Equal(before, text) {
		return nil
	}
	return os.WriteFile(name, text, 0o644)
}
