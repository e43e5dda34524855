package kernel

import (
	"fmt"
	"strings"
)

// ISA is an instruction set that kernels are written for. The zero value is [Generic]; the others belong to the build's
// architecture, each including the ones before it.
type ISA uint8

// Generic is portable Go, which every build has.
const Generic ISA = 0

// sets are the instruction sets of this build, lowest first.
var sets = append([]instructionSet{{"generic", func() bool { return true }, genericTable()}}, architectureSets()...)

// String returns the name that [ParseISA] accepts.
func (i ISA) String() string {
	if int(i) < len(sets) {
		return sets[i].name
	}
	return fmt.Sprintf("ISA(%d)", uint8(i))
}

// ISANames lists the instruction sets that this build has kernels for, lowest first, in words: "generic, a or b". The
// processor may lack some.
func ISANames() string {
	var names []string
	for _, s := range sets {
		names = append(names, s.name)
	}
	last := len(names) - 1
	if last == 0 {
		return names[0]
	}
	return strings.Join(names[:last], ", ") + " or " + names[last]
}

// ParseISA returns the instruction set of the given name, whether or not the processor has it.
func ParseISA(name string) (ISA, error) {
	for i, s := range sets {
		if s.name == name {
			return ISA(i), nil
		}
	}
	return Generic, fmt.Errorf("kernel: want instruction set %s, got %q", ISANames(), name)
}

var active ISA

// Active is the instruction set in use.
func Active() ISA { return active }

// Supported lists the instruction sets that this processor and build have, lowest first.
func Supported() []ISA {
	var s []ISA
	for i := Generic; i <= best; i++ {
		s = append(s, i)
	}
	return s
}

// best is the highest instruction set that this processor has.
var best = func() (b ISA) {
	for i, s := range sets {
		if !s.available() {
			break
		}
		b = ISA(i)
	}
	return b
}()

// Available returns the instruction set of the given name. It fails when there is none of that name, or when the
// processor or the build lacks it.
func Available(name string) (ISA, error) {
	isa, err := ParseISA(name)
	if err == nil {
		err = isa.lacking()
	}
	return isa, err
}

func (i ISA) lacking() error {
	if i > best {
		return fmt.Errorf("kernel: instruction set %v is not available here (best is %v)", i, best)
	}
	return nil
}

// Select makes every kernel use the given instruction set and returns a function that restores the one before. It fails
// when the processor or the build lacks it. It must not run at the same time as any kernel.
func Select(isa ISA) (restore func(), err error) {
	if err := isa.lacking(); err != nil {
		return nil, err
	}
	before := active
	use(isa)
	return func() { use(before) }, nil
}

func use(isa ISA) { active, fast = isa, sets[isa].kernels }

func init() { use(best) }
