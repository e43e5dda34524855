package kernel

import "fmt"

// ISA is a level of vector instructions.
type ISA uint8

// Levels, each including the ones before it.
const (
	Generic ISA = iota // portable Go
	AVX2               // AVX2, FMA, F16C, BMI2
	AVX512             // AVX-512 F, BW, DQ, VL
)

var isaNames = [...]string{"generic", "avx2", "avx512"}

// String returns the name that [ParseISA] accepts.
func (i ISA) String() string {
	if int(i) < len(isaNames) {
		return isaNames[i]
	}
	return fmt.Sprintf("ISA(%d)", uint8(i))
}

// ParseISA is the level called generic, avx2 or avx512.
func ParseISA(name string) (ISA, error) {
	for i, n := range isaNames {
		if n == name {
			return ISA(i), nil
		}
	}
	return Generic, fmt.Errorf("kernel: want instruction set generic, avx2 or avx512, got %q", name)
}

var (
	active  ISA
	setters []func(ISA) // one per family of kernels: point its variables at this level
)

// Active is the level in use.
func Active() ISA { return active }

// Supported lists the levels this machine and build can run, lowest first.
func Supported() []ISA {
	var s []ISA
	for i := Generic; i <= detected(); i++ {
		s = append(s, i)
	}
	return s
}

// Select makes every kernel use the given level and returns a function that
// restores the level before. It fails when the machine or the build lacks the
// level. It must not run at the same time as any kernel.
func Select(isa ISA) (restore func(), err error) {
	if isa > detected() {
		return nil, fmt.Errorf("kernel: instruction set %v is not available here (best is %v)", isa, detected())
	}
	before := active
	use(isa)
	return func() { use(before) }, nil
}

func use(isa ISA) {
	active = isa
	for _, set := range setters {
		set(isa)
	}
}

func init() { use(detected()) }

// register adds a family's setter; it is used in package variable
// declarations, which run before init chooses the level.
func register(set func(ISA)) struct{} {
	setters = append(setters, set)
	return struct{}{}
}
