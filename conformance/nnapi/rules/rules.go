// Package rules checks a library against the rules of Android's Neural Networks C API: which calls succeed, which are
// refused with which code, in which order arguments are judged, what states objects go through, and how long they live.
// It knows no implementation; it calls a library file through the C ABI, in child processes, so that a crash or a hang
// is a result.
//
// A rule is one statement and has a number, SECTION.LETTERS, by the sections of docs/abi/nnapi.md: 0 rules that
// hold everywhere, 1 devices, 2 memory, 3 models, 4 compilations, 5 executions, 6 events, 7 extensions, 8 control flow,
// 9 tensors of size zero, 11 choices where the reference implementation is silent.
package rules

import (
	"slices"
	"strings"

	"golang.org/x/sys/unix"

	"github.com/anynpu/anynpu/conformance/nnapi"
	"github.com/anynpu/anynpu/conformance/suite"
	"github.com/anynpu/anynpu/conformance/suite/cmem"
)

// Rule is one statement about the API; its ID is SECTION.LETTERS_topic.
type Rule = suite.Rule[*T]

// T is what a case runs with. Its methods make the objects of the API.
type T struct {
	*nnapi.T
	compilations map[uintptr]uintptr // of executions
}

func newT(t *suite.T) *T { return &T{nnapi.NewT(t), map[uintptr]uintptr{}} }

func rule(id, text string) *Rule { return suite.NewRule[*T](id, text) }

// Rules returns all rules.
func Rules() []*Rule {
	return slices.Concat(nulls(), indices(), orders(), frees(), failures(), devices, levels(), memories, models, constants,
		quantization(), compilations, states(), executions, computing(), bindings(), events, extensions, control, further,
		planRules, dimensionRules(), zeros, handles())
}

// Suite is the rules of the API.
func Suite() *suite.Suite { return all().Suite() }

func all() *suite.Rules[*T] {
	return &suite.Rules[*T]{
		API:    nnapi.API,
		All:    Rules(),
		New:    newT,
		Object: about,
		Environ: []string{"ANYNPU_LOG=warn", "ANYNPU_LOG_FILE=/dev/null", "ANYNPU_NNAPI_FEATURE_LEVEL=",
			"ANYNPU_NNAPI_DEVICES=", "ANYNPU_NNAPI=cpu", "ANYNPU_THREADS=1"},
		Tally: "nnapi rules %d of %d",
		NotCovered: []suite.Statement{
			{Text: "0: threads", Reason: "the building of objects by several threads is the program's duty to avoid"},
			{Text: "2: hardware buffers", Reason: "there are none off Android"},
			{Text: "7: what extensions do", Reason: "the processor has none"},
		},
	}
}

// sections are what the rules of a section are about.
var sections = map[string]string{"0": "rules that hold everywhere", "1": "devices", "2": "memory", "3": "models",
	"4": "compilations", "5": "executions", "6": "events", "7": "extensions", "8": "control flow",
	"9": "tensors of size zero", "11": "choices where the reference implementation is silent"}

// about is what a rule is about.
func about(r *Rule) string {
	section, _, _ := strings.Cut(r.ID, ".")
	return sections[section]
}

// out is the variable of a handle; the object is freed when the case ends.
func (t *T) out(free string) *uintptr {
	h := new(uintptr)
	t.Later(func() {
		if *h != 0 {
			t.Call(free, *h)
		}
	})
	return h
}

// descriptor is that of a file of n bytes, which lives as long as the case.
func (t *T) descriptor(n int) int {
	fd, err := unix.MemfdCreate("nnapi", unix.MFD_CLOEXEC)
	t.Check(err == nil, "memfd_create: %v", err)
	t.Later(func() { unix.Close(fd) })
	t.Check(unix.Ftruncate(fd, int64(n)) == nil, "ftruncate")
	return fd
}

// pool is memory of n bytes of a file that may be read and written.
func (t *T) pool(n int) uintptr {
	return t.New("Memory_free", "Memory_createFromFd", n, unix.PROT_READ|unix.PROT_WRITE, t.descriptor(n), 0)
}

// file is pool with the bytes.
func (t *T) file(n int) (memory uintptr, data []byte) {
	t.Outside("the bytes of a file")
	fd := t.descriptor(n)
	data, err := unix.Mmap(fd, 0, n, unix.PROT_READ|unix.PROT_WRITE, unix.MAP_SHARED)
	t.Check(err == nil, "mmap: %v", err)
	t.Later(func() { _ = unix.Munmap(data) })
	return t.New("Memory_free", "Memory_createFromFd", n, unix.PROT_READ|unix.PROT_WRITE, fd, 0), data
}

// pipe is a fence that is not signalled, and what signals it.
func (t *T) pipe() (fd int, signal func()) {
	t.Outside("a pipe")
	var ends [2]int
	t.Check(unix.Pipe2(ends[:], unix.O_CLOEXEC) == nil, "pipe2")
	t.Later(func() { unix.Close(ends[0]); unix.Close(ends[1]) })
	return ends[0], func() {
		_, err := unix.Write(ends[1], []byte{1})
		t.Check(err == nil, "write: %v", err)
	}
}

// execution is an execution of a compilation, with which bursts of its own can be made.
func (t *T) execution(compilation uintptr) uintptr {
	e := t.Execution(compilation)
	t.compilations[e] = compilation
	return e
}

func text(at uintptr) string { return cmem.Text(at) }
