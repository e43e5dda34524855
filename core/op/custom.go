package op

import (
	"encoding/json"
	"slices"
	"strconv"

	"github.com/anynpu/anynpu/core/fault"
	"github.com/anynpu/anynpu/core/graph"
	"github.com/anynpu/anynpu/core/tensor"
)

// Custom is an operator that a program computes: a node of a foreign domain in a model, or one that the project knows
// and the program replaces. A device that does not call the program's functions refuses it.
//
// Inputs and outputs are the node's. An attribute has a name, a type ("float", "int", "string", "floats", "ints" or
// "strings") and a value as JSON, in which real numbers are strings: see Floats and Ints.
type Custom struct {
	Domain, Type         string
	Names, Types, Values []string
	// Instance tells the uses of an operator in one graph apart; 0: not given.
	Instance int64
	// Body is the operator that is replaced, for its shapes; nil for one that the project does not know. Given holds the
	// input of the node for each input of Body, Makes the output for each of its outputs.
	Body         *graph.Graph
	Given, Makes []int
	// Like holds, for the first outputs, the input from 1 whose shape the output has; 0, as for the outputs behind them:
	// none is known to.
	Like []int
}

func init() { graph.Register[*Custom]("custom", graph.Traits{Impure: true, Effect: true}) }

// AdjustTraits says that the outputs' shapes are known only after a run, unless Body tells them.
func (o *Custom) AdjustTraits(t graph.Traits) graph.Traits {
	t.DataDependent = o.Body == nil
	return t
}

// Infer returns what the model declares, and, of an operator that is replaced, what is known of that one.
func (o *Custom) Infer(in []tensor.Fact, declared []tensor.Type) ([]tensor.Fact, error) {
	if o.Type == "" || len(o.Names) != len(o.Values) || len(o.Names) != len(o.Types) {
		return nil, fault.New(fault.Argument, "a custom operator without a type or with %d names for %d values of %d types",
			len(o.Names), len(o.Values), len(o.Types))
	}
	out := make([]tensor.Fact, len(declared))
	for i, t := range declared {
		out[i].Type = t
	}
	for i, k := range o.Like {
		if i >= len(out) || k < 0 || k > len(in) {
			return nil, fault.New(fault.Argument, "custom operator %s: output %d of %d like input %d of %d", o.Type, i, len(out),
				k-1, len(in))
		}
		if k == 0 {
			continue
		}
		shape, ok := in[k-1].Shape.Merge(out[i].Shape)
		if !ok {
			return nil, fault.New(fault.Shape, "custom operator %s: output %d has the shape %v, want that of input %d, %v",
				o.Type, i, out[i].Shape, k-1, in[k-1].Shape)
		}
		out[i].Shape = shape
	}
	if o.Body == nil {
		return out, nil
	}
	own := *o.Body
	if len(o.Given) != len(own.In) || len(o.Makes) != len(own.Out) {
		return nil, fault.New(fault.Argument, "custom operator %s: its body has %d inputs and %d outputs, want %d and %d",
			o.Type, len(own.In), len(own.Out), len(o.Given), len(o.Makes))
	}
	own.Values = slices.Clone(own.Values)
	for k, v := range own.In {
		if i := o.Given[k]; i < 0 || i >= len(in) {
			return nil, fault.New(fault.Argument, "custom operator %s: input %d of %d", o.Type, i, len(in))
		}
		own.Values[v].Fact = in[o.Given[k]]
	}
	if err := own.Infer(); err != nil {
		return nil, err
	}
	for k, v := range own.Out {
		i := o.Makes[k]
		if i < 0 || i >= len(out) {
			return nil, fault.New(fault.Argument, "custom operator %s: output %d of %d", o.Type, i, len(out))
		}
		out[i] = own.Fact(v)
		out[i].Const = nil
	}
	return out, nil
}

// SetLike gives an output the shape of an input.
func (o *Custom) SetLike(output, input int) {
	for len(o.Like) <= output {
		o.Like = append(o.Like, 0)
	}
	o.Like[output] = input + 1
}

// SetFloats adds an attribute of real numbers, of type "float" or "floats".
func (o *Custom) SetFloats(name, typ string, v []float32) error {
	texts := make([]string, len(v))
	for i, x := range v {
		texts[i] = strconv.FormatFloat(float64(x), 'g', -1, 32)
	}
	return o.SetJSON(name, typ, texts)
}

// SetJSON adds an attribute with the value of v's JSON: []int64 for "int" and "ints", []string for "string" and
// "strings".
func (o *Custom) SetJSON(name, typ string, v any) error {
	text, err := json.Marshal(v)
	if err != nil {
		return fault.As(fault.Argument, err, "attribute %s", name)
	}
	o.Names, o.Types, o.Values = append(o.Names, name), append(o.Types, typ), append(o.Values, string(text))
	return nil
}

// Floats returns an attribute of type "float" or "floats"; ok is false when there is none of that type.
func (o *Custom) Floats(name string) (v []float32, ok bool) {
	texts, ok := read[string](o, name, "float", "floats")
	for _, t := range texts {
		x, err := strconv.ParseFloat(t, 32)
		if err != nil {
			return nil, false
		}
		v = append(v, float32(x))
	}
	return v, ok
}

// Ints returns an attribute of type "int" or "ints".
func (o *Custom) Ints(name string) ([]int64, bool) { return read[int64](o, name, "int", "ints") }

// Strings returns an attribute of type "string" or "strings".
func (o *Custom) Strings(name string) ([]string, bool) {
	return read[string](o, name, "string", "strings")
}

func read[T any](o *Custom, name string, types ...string) (v []T, ok bool) {
	i := slices.Index(o.Names, name)
	if i < 0 || i >= len(o.Types) || i >= len(o.Values) || !slices.Contains(types, o.Types[i]) {
		return nil, false
	}
	return v, json.Unmarshal([]byte(o.Values[i]), &v) == nil
}
