package kernel

import "fmt"

// Comparison is a way to compare two numbers; none but NotEqual holds with a NaN.
type Comparison uint8

const (
	Less Comparison = iota
	LessEqual
	Greater
	GreaterEqual
	Equal
	NotEqual
	numComparisons
)

var comparisonNames = [numComparisons]string{"Less", "LessEqual", "Greater", "GreaterEqual", "Equal", "NotEqual"}

// String is the name of the constant.
func (c Comparison) String() string {
	if c < numComparisons {
		return comparisonNames[c]
	}
	return fmt.Sprintf("Comparison(%d)", uint8(c))
}

// Swapped is the comparison whose operands are exchanged.
func (c Comparison) Swapped() Comparison {
	return [numComparisons]Comparison{Greater, GreaterEqual, Less, LessEqual, Equal, NotEqual}[c]
}

// Comparable are the types whose comparisons are kernels.
type Comparable interface{ float32 | int32 | int64 }

// pairStep is how many values, or bytes of integers, the kernels of pairs take at once.
const pairStep = 32

// IntegerOp names a function of two integers. Sums and products keep the low bits; Bits are functions of bits, and Bool
// of bytes that are true unless they are 0, whose results are 0 and 1.
type IntegerOp uint8

const (
	AddI32 IntegerOp = iota
	SubI32
	MulI32
	MinI32
	MaxI32
	AddI64
	SubI64
	MinI64
	MaxI64
	AndBits
	OrBits
	XorBits
	AndBool
	OrBool
	XorBool
	numInteger
)

var integerNames = [numInteger]string{"AddI32", "SubI32", "MulI32", "MinI32", "MaxI32", "AddI64", "SubI64", "MinI64",
	"MaxI64", "AndBits", "OrBits", "XorBits", "AndBool", "OrBool", "XorBool"}

// String is the name of the constant.
func (o IntegerOp) String() string {
	if o < numInteger {
		return integerNames[o]
	}
	return fmt.Sprintf("IntegerOp(%d)", uint8(o))
}

// Size is how many bytes an operand of VS has.
func (o IntegerOp) Size() int {
	switch {
	case o <= MaxI32:
		return 4
	case o <= MaxI64:
		return 8
	}
	return 1
}
