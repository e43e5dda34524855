package suite

import (
	"crypto/sha256"
	"fmt"
	"io"
	"os"

	"github.com/ebitengine/purego"

	"github.com/anynpu/anynpu/conformance/suite/cmem"
)

// Greeting is the first line that a child process writes, as JSON: what it tests.
type Greeting struct {
	Device  string `json:"device"`  // the default device, "" if there is none
	Version string `json:"version"` // the library's own word for it, else "sha256:" and the sum of its file
}

// greet returns the greeting for the library.
func (l *Library) greet() (Greeting, error) {
	var g Greeting
	if l.API.Device != nil {
		g.Device = l.API.Device(l)
	}
	if l.own.version != 0 {
		p, _, _ := purego.SyscallN(l.own.version)
		g.Version = cmem.Text(p)
		return g, nil
	}
	f, err := os.Open(l.Path)
	if err != nil { // found by its name alone
		g.Version = "unknown"
		return g, nil
	}
	defer f.Close()
	sum := sha256.New()
	if _, err := io.Copy(sum, f); err != nil {
		return g, err
	}
	g.Version = fmt.Sprintf("sha256:%x", sum.Sum(nil))
	return g, nil
}
