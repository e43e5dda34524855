// Package model is what the suites of NNAPI have for models in that API's own terms: operands with their elements, and
// models of several operations, as the scripts of the suites write them in JSON.
package model

import (
	"encoding/json"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/anynpu/anynpu/conformance/nnapi"
	"github.com/anynpu/anynpu/conformance/suite/numbers"
)

// Operand is an argument of an operation, or an operand of a model that an operation refers to.
type Operand struct {
	Type    string           `json:"type"` // a key of types
	Dims    []uint32         `json:"dims"`
	Scale   float32          `json:"scale"`
	Zero    int32            `json:"zero"`
	Channel *uint32          `json:"channel"` // the dimension of Scales
	Scales  []float32        `json:"scales"`
	Const   bool             `json:"const"` // part of the model; scalars are without saying so
	None    bool             `json:"none"`  // without a value
	Open    bool             `json:"open"`  // the model leaves all dimensions open
	Data    []numbers.Number `json:"data"`
	Pattern *numbers.Pattern `json:"pattern"` // in place of Data
	Model   string           `json:"model"`   // of Case.Models: the value of a MODEL operand
	Ignore  bool             `json:"ignore"`  // an output whose content the API leaves open
	Shares  [][]float64      `json:"shares"`  // of an output of draws: how often each number comes, for each row
	Within  float64          `json:"within"`  // how far shares may be off
}

// UnmarshalJSON also reads the short forms: "i32 3" is a scalar, "F32/2 -" a tensor of two dimensions without a value.
func (o *Operand) UnmarshalJSON(b []byte) error {
	if len(b) == 0 || b[0] != '"' {
		type plain Operand
		return json.Unmarshal(b, (*plain)(o))
	}
	word, rest, ok := strings.Cut(strings.Trim(string(b), `"`), " ")
	if word, rank, tensor := strings.Cut(word, "/"); tensor && rest == "-" {
		n, err := strconv.Atoi(rank)
		*o = Operand{Type: word, None: true, Dims: slices.Repeat([]uint32{1}, n)}
		return err
	}
	o.Type, o.Data = word, make([]numbers.Number, 1)
	if !ok {
		return fmt.Errorf("operand %s has no value", b)
	}
	return o.Data[0].UnmarshalJSON([]byte(rest))
}

// Numbers are the elements of an operand.
func (o *Operand) Numbers() []numbers.Number {
	if o.Pattern != nil {
		return o.Pattern.Numbers(o.Count())
	}
	return o.Data
}

// Valued tells whether the operand has elements in the case.
func (o *Operand) Valued() bool { return o.Data != nil || o.Pattern != nil }

// Count is the number of elements.
func (o *Operand) Count() int {
	n := 1
	for _, d := range o.Dims {
		n *= int(d)
	}
	return n
}

// Bytes are the elements in memory.
func (o *Operand) Bytes() []byte { return numbers.Encode(o.Numbers(), Types[o.Type].DType) }

// Size is the number of bytes of the elements.
func (o *Operand) Size() int { return o.Count() * Types[o.Type].DType.Bits() / 8 }

// Empty tells whether the operand is a tensor without elements. The API has no way to give one to a model.
func (o *Operand) Empty() bool { return slices.Contains(o.Dims, 0) }

// Declare adds the operand to a model with these dimensions and returns its index.
func (o *Operand) Declare(t *nnapi.T, m *nnapi.Model, dims []uint32) uint32 {
	index := m.Add(t.Quantized(Types[o.Type].Code, o.Scale, o.Zero, dims...))
	if o.Channel != nil {
		t.OK("Model_setOperandSymmPerChannelQuantParams", m.Handle, index, t.Scales(*o.Channel, o.Scales...))
	}
	return index
}

// Kind says how an operand is quantized, and whether its dimensions are open.
func (o *Operand) Kind() string {
	s := ""
	if o.Open {
		s = "?"
	}
	switch {
	case o.Zero != 0:
		s += "z"
	case o.Scale != 0:
		s += "s"
	case o.Scales != nil:
		s += "p"
	}
	return s
}
