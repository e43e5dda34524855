// Package suite is what the suites that judge a library have in common, whatever the library's API: rules with accepted
// and refused cases, children in which the cases run, settings of their environment, modes, coverage of rules and
// functions, and reports as text, JSON and JUnit. It knows no API and no implementation: an API is described by a value
// of type API, and a library is a file that is called through the C ABI.
//
// An API has a folder with that value, and below it a folder per suite. A rule suite is a type of its own that embeds
// *T and makes the objects of the API, lists of Rule, and a Rules that names both; other suites fill a Suite
// themselves. Command conformance makes a sub-command of each Suite.
package suite

import (
	"cmp"
	"fmt"
	"os"
	"path/filepath"

	"github.com/anynpu/anynpu/conformance/suite/trace"
	"github.com/anynpu/anynpu/internal/built"
)

// API describes a C API to the suites. Every parameter of its functions is an integer, a boolean or a pointer of the
// machine's word size or less, or a float; every result is one of the former.
type API struct {
	Name     string // in reports and as a sub-command, such as "ohnn"
	Title    string // in help texts
	Soname   string // file name of this project's library of the API
	Variable string // environment variable that names another library file
	Prefix   string // begins the name of every function; cases leave it out

	Functions  []string // that the headers declare
	Historical []string // names of older headers, to which programs are still linked
	Essential  []string // without one of these a file is no library of the API

	Success  int                   // return code of a call that was accepted
	BadParam int                   // return code of a call with a wrong argument
	Codes    map[int]string        // names of the return codes
	Headers  *trace.Headers        // what a C program has of the public headers
	Device   func(*Library) string // name of the default device, "" for none; nil: the API names no devices
	Models   *Models               // how programs hand models over; nil: the API takes none
	Compiler *Compiler             // nil: the API tells nothing of devices
	Board    string                // variable that tells this project's library whose board's answers a case expects
}

// File is the library file under test: that of Variable, else this project's own. root is the repository's root, as the
// caller reaches it.
func (a *API) File(root string) string { return cmp.Or(os.Getenv(a.Variable), a.OwnFile(root)) }

// OwnFile is this project's own library file: that of the tree, else the one that is installed beside this program.
func (a *API) OwnFile(root string) string {
	file := built.Library(root, a.Soname)
	if _, err := os.Stat(file); err == nil {
		return file
	}
	program, err := os.Executable()
	if err != nil {
		return file
	}
	for _, lib := range []string{"lib/*-linux-gnu", "lib64", "lib"} {
		found, err := filepath.Glob(filepath.Join(filepath.Dir(filepath.Dir(program)), lib, "anynpu", a.Soname))
		if err == nil && len(found) > 0 {
			return found[0]
		}
	}
	return file
}

// CodeName shows a return code by name and number.
func (a *API) CodeName(code int) string {
	if name, ok := a.Codes[code]; ok {
		return fmt.Sprintf("%s(%d)", name, code)
	}
	return fmt.Sprint(code)
}
