package kernel

import (
	"fmt"
	"math/bits"
)

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
type Comparable interface {
	float32 | float64 | int8 | int16 | int32 | int64 | uint8 | uint16 | uint32 | uint64
}

// numCompared counts the types of Comparable.
const numCompared = 10

// pairStep is how many values, or bytes of integers, the kernels of pairs take at once.
const pairStep = 32

// IntegerOp names a function of two integers. Sums, products and shifts keep the low bits; a shift by as many bits as
// there are or more leaves 0. Bits are functions of bits, and Bool of bytes that are true unless they are 0, whose
// results are 0 and 1.
type IntegerOp uint8

// Functions of 1, 2, 4 and 8 bytes, one after another.
const (
	AddI8 IntegerOp = iota
	AddI16
	AddI32
	AddI64
	SubI8
	SubI16
	SubI32
	SubI64
	MulI8
	MulI16
	MulI32
	MulI64
	MinI8
	MinI16
	MinI32
	MinI64
	MaxI8
	MaxI16
	MaxI32
	MaxI64
	LeastU8
	LeastU16
	LeastU32
	LeastU64
	MostU8
	MostU16
	MostU32
	MostU64
	ShlI8
	ShlI16
	ShlI32
	ShlI64
	ShrU8
	ShrU16
	ShrU32
	ShrU64
	numSized
)

// Functions of bytes.
const (
	AndBits = numSized + iota
	OrBits
	XorBits
	AndBool
	OrBool
	XorBool
	numInteger
)

// Sized is the function of o, which is one of bytes, for integers of 1, 2, 4 or 8 bytes.
func (o IntegerOp) Sized(bytes int) IntegerOp { return o + IntegerOp(bits.TrailingZeros(uint(bytes))) }

// bytes is the function of o for bytes.
func (o IntegerOp) bytes() IntegerOp { return o &^ 3 }

// String is the name of the constant.
func (o IntegerOp) String() string {
	switch {
	case o < numSized:
		name := [...]string{"AddI", "SubI", "MulI", "MinI", "MaxI", "LeastU", "MostU", "ShlI", "ShrU"}[o/4]
		return fmt.Sprint(name, 8*o.Size())
	case o < numInteger:
		return [...]string{"AndBits", "OrBits", "XorBits", "AndBool", "OrBool", "XorBool"}[o-numSized]
	}
	return fmt.Sprintf("IntegerOp(%d)", uint8(o))
}

// Size is how many bytes an operand of VS has.
func (o IntegerOp) Size() int {
	if o < numSized {
		return 1 << (o % 4)
	}
	return 1
}

// Commutes says that the operands of o can be exchanged.
func (o IntegerOp) Commutes() bool {
	return o.bytes() != SubI8 && o.bytes() != ShlI8 && o.bytes() != ShrU8
}

// Folds says that [FoldIntegers] has o.
func (o IntegerOp) Folds() bool { return o < numSized && o.Commutes() && o.bytes() != MulI8 }

// IntegerFunction names a function of one signed integer; the opposite of the least number is itself.
type IntegerFunction uint8

// Functions of 1, 2, 4 and 8 bytes, one after another.
const (
	AbsI8 IntegerFunction = iota
	AbsI16
	AbsI32
	AbsI64
	NegI8
	NegI16
	NegI32
	NegI64
	SignI8
	SignI16
	SignI32
	SignI64
	numFunctions
)

// Sized is the function of f, which is one of bytes, for integers of 1, 2, 4 or 8 bytes.
func (f IntegerFunction) Sized(bytes int) IntegerFunction {
	return f + IntegerFunction(bits.TrailingZeros(uint(bytes)))
}

// String is the name of the constant.
func (f IntegerFunction) String() string {
	if f < numFunctions {
		return fmt.Sprint([...]string{"AbsI", "NegI", "SignI"}[f/4], 8*f.Size())
	}
	return fmt.Sprintf("IntegerFunction(%d)", uint8(f))
}

// Size is the number of bytes of an operand.
func (f IntegerFunction) Size() int { return 1 << (f % 4) }
