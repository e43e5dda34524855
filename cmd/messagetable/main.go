// Command messagetable writes docs/messages.md: the ids of messages, with cause and remedy. It runs in the root of the
// repository.
package main

import (
	"fmt"
	"os"

	"github.com/anynpu/anynpu/core/fault"
	"github.com/anynpu/anynpu/internal/messages"
)

func main() {
	if err := run(os.Args[1:]); err != nil {
		fmt.Fprintln(os.Stderr, "messagetable:", err)
		os.Exit(1)
	}
}

// run writes the page, unless the source has messages without an id.
func run(args []string) error {
	if len(args) != 1 {
		return fault.New(fault.Argument, "want the file to write, got %d arguments", len(args))
	}
	s, err := messages.Read(".")
	if err != nil {
		return err
	}
	for _, f := range s.Faults {
		fmt.Fprintln(os.Stderr, f)
	}
	page, err := messages.Page(s)
	if err != nil {
		return err
	}
	return os.WriteFile(args[0], []byte(page), 0o666)
}
