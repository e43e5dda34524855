package nnapi

import (
	"strconv"
	"strings"
)

// Signature has the API's rules for one operation: its arguments, the types that go together, and the rules for scales
// and zero points.
type Signature struct {
	Code  OperationCode
	Forms []Form  // the ways to pass arguments
	Types []Types // the types that the variables of all forms may take together; none: no argument has a variable
	Rules []Rule
}

// Form is one way to pass the arguments of an operation.
type Form struct {
	Name            string // "explicit padding"; "" when there is only one
	Inputs, Outputs Arguments
}

// Arguments are the inputs or the outputs of a form.
type Arguments struct {
	List []Argument
	// How many there may be, in rising order: all that must be there, then with each group of optional ones. The last is
	// also what a repeated argument counts from.
	Counts   []int
	Repeated int // index in List of the argument that may occur once or more; -1: none
}

// Argument is one input or output.
type Argument struct {
	Name    string
	Type    ArgumentType
	Level   FeatureLevel // the level that added it; the operation's own for those that were there from the start
	Omitted bool         // the operand may have no value
	RankMin int          // with RankMax: the ranks of a tensor; judged where the rank is known
	RankMax int          // 0: any
}

// ArgumentType says which operand types an argument takes.
type ArgumentType struct {
	Variable int         // index into Types.Of; Fixed and FloatScalar otherwise
	Fixed    OperandCode // with Variable == FixedType
}

// Values of ArgumentType.Variable that are no index.
const (
	FixedType   = -1 // always ArgumentType.Fixed
	FloatScalar = -2 // FLOAT16 where variable 0 is TENSOR_FLOAT16, else FLOAT32
)

// Types is one choice for the variables of an operation's arguments.
type Types struct {
	Level FeatureLevel // the first level that takes it
	Of    []OperandCode
}

// Level returns the feature level that brought an operation of the API.
func (c OperationCode) Level() FeatureLevel {
	switch {
	case c <= Tanh:
		return Level1
	case c <= Transpose:
		return Level2
	case c <= UnidirectionalSequenceRNN:
		return Level3
	case c <= Rank:
		return Level4
	case c <= Pack:
		return Level6
	}
	return Level7
}

// SignatureOf returns the signature of an operation of the API, nil for any other code.
func SignatureOf(c OperationCode) *Signature {
	if !c.Known() {
		return nil
	}
	return signatures[c]
}

var signatures [Operations]*Signature

// shortTypes are the words for types in the tables of this package: those of nnapi_ops, small letters for scalars.
var shortTypes = map[string]OperandCode{"F32": TensorFloat32, "F16": TensorFloat16, "I32": TensorInt32,
	"Q8": TensorQuant8Asymm, "Q8S": TensorQuant8AsymmSigned, "Q8Y": TensorQuant8Symm, "Q8C": TensorQuant8SymmPerChannel,
	"Q16A": TensorQuant16Asymm, "Q16Y": TensorQuant16Symm, "B8": TensorBool8, "f32": Float32, "f16": Float16,
	"i32": Int32, "bool": Bool, "model": ModelOperand}

// std are the types that most operations of the first level take by now.
const std = "F32 F16 Q8 Q8S"

// level reads the digit behind an @, 0 without one.
func level(s string) (word string, l FeatureLevel) {
	word, digit, ok := strings.Cut(s, "@")
	if !ok {
		return word, 0
	}
	return word, Levels[digit[0]-'1']
}

// typesOf reads "F32,F32,F32 Q8,Q8,I32@3": choices of one type for each variable, each with the level that takes it
// where that is later than the operation's and the types' own.
func typesOf(c OperationCode, s string) []Types {
	var out []Types
	for _, word := range strings.Fields(s) {
		word, l := level(word)
		t := Types{Level: max(l, c.Level())}
		for _, name := range strings.Split(word, ",") {
			code, ok := shortTypes[name]
			if !ok {
				panic("nnapi: " + c.String() + ": no type " + name)
			}
			t.Of = append(t.Of, code)
			t.Level = max(t.Level, operandFacts[code].Level)
		}
		out = append(out, t)
	}
	return out
}

// arguments reads a list of arguments, "input:T/4 filter:U/4 stride | layout:bool@3 | dilation@3". A word is
//
//	NAME[:TYPE][/RANK][@LEVEL][?][*]
//
// TYPE is T, U or V for a variable, fx for FloatScalar, or a word of shortTypes; without one it is i32. RANK is "4" or
// "1-4". ? says that the operand may have no value, * that the argument may occur more than once. A | stands before
// arguments that may be left out together with all that follow.
func arguments(c OperationCode, s string) Arguments {
	out := Arguments{Repeated: -1}
	for _, word := range strings.Fields(s) {
		if word == "|" {
			out.Counts = append(out.Counts, len(out.List))
			continue
		}
		a := Argument{Level: c.Level(), Type: ArgumentType{FixedType, Int32}}
		if strings.HasSuffix(word, "*") {
			out.Repeated, word = len(out.List), word[:len(word)-1]
		}
		word, a.Omitted = strings.CutSuffix(word, "?")
		word, l := level(word)
		a.Level = max(a.Level, l)
		word, ranks, ranked := strings.Cut(word, "/")
		if ranked {
			lo, hi, both := strings.Cut(ranks, "-")
			if !both {
				hi = lo
			}
			a.RankMin, a.RankMax = int(lo[0]-'0'), int(hi[0]-'0')
		}
		name, typ, typed := strings.Cut(word, ":")
		a.Name = strings.ReplaceAll(name, "_", " ")
		if v := strings.Index("TUV", typ); typed && v >= 0 {
			a.Type.Variable = v
		} else if typ == "fx" {
			a.Type.Variable = FloatScalar
		} else if typed {
			code, ok := shortTypes[typ]
			if !ok {
				panic("nnapi: " + c.String() + ": no type " + typ)
			}
			a.Type.Fixed = code
			a.Level = max(a.Level, operandFacts[code].Level)
		}
		out.List = append(out.List, a)
	}
	out.Counts = append(out.Counts, len(out.List))
	return out
}

// define adds a signature with one form.
func define(c OperationCode, types, inputs, outputs string, rules ...Rule) {
	s := &Signature{Code: c, Types: typesOf(c, types), Rules: rules}
	s.form("", inputs, outputs)
	if signatures[c] != nil {
		panic("nnapi: " + c.String() + " is defined twice")
	}
	signatures[c] = s
}

// form adds a form; the ones before it have the better claim where both fit.
func (s *Signature) form(name, inputs, outputs string) {
	s.Forms = append(s.Forms, Form{name, arguments(s.Code, inputs), arguments(s.Code, outputs)})
}

// fits reports whether there may be n arguments.
func (a *Arguments) fits(n int) bool {
	last := a.Counts[len(a.Counts)-1]
	if a.Repeated >= 0 && n > last {
		return true
	}
	for _, c := range a.Counts {
		if c == n {
			return true
		}
	}
	return false
}

// At returns argument i of n, with repeated ones counted.
func (a *Arguments) At(i, n int) *Argument {
	if extra := n - len(a.List); a.Repeated >= 0 && extra > 0 && i > a.Repeated {
		i = max(a.Repeated, i-extra)
	}
	return &a.List[i]
}

// words says how many arguments there may be: "10, 11 or 13".
func (a *Arguments) words() string {
	if a.Repeated >= 0 {
		return strconv.Itoa(a.Counts[0]) + " or more"
	}
	var s []string
	for _, c := range a.Counts {
		s = append(s, strconv.Itoa(c))
	}
	return orList(s)
}

// orList joins words: "a, b or c".
func orList(s []string) string {
	if len(s) < 2 {
		return strings.Join(s, "")
	}
	return strings.Join(s[:len(s)-1], ", ") + " or " + s[len(s)-1]
}
