package ohnn

import (
	"crypto/sha256"
	"fmt"
	"io"
	"os"

	"github.com/ebitengine/purego"
)

// Greeting is the first line that a child process of a Runner writes, as JSON: what it tests.
type Greeting struct {
	Device  string `json:"device"`  // the default device, "" if there is none
	Version string `json:"version"` // the library's own word for it, else "sha256:" and the sum of its file
}

// Greet returns the greeting for a library file that is open already.
func Greet(path, device string) (Greeting, error) {
	g := Greeting{Device: device}
	lib, err := purego.Dlopen(path, purego.RTLD_NOW|purego.RTLD_LOCAL)
	if err != nil {
		return g, err
	}
	if sym, err := purego.Dlsym(lib, "anynpu_version"); err == nil {
		var version func() string
		purego.RegisterFunc(&version, sym)
		g.Version = version()
		return g, nil
	}
	f, err := os.Open(path)
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
