package ref

import (
	"math/rand"
	"slices"
	"testing"

	"github.com/anynpu/anynpu/core/fault"
	"github.com/anynpu/anynpu/core/graph"
	"github.com/anynpu/anynpu/core/op/optest"
	"github.com/anynpu/anynpu/core/tensor"
)

// FuzzCompute gives every registered operator arbitrary attributes and small tensors: the result is an error that is
// not our own fault, or tensors of the inferred sizes, and the inputs are unchanged.
func FuzzCompute(f *testing.F) {
	rnd := rand.New(rand.NewSource(2))
	for i := range len(graph.OpNames()) {
		for range 40 {
			data := make([]byte, 600)
			rnd.Read(data)
			f.Add(uint16(i), data)
		}
	}
	defer func(n int64) { maxElements = n }(maxElements)
	maxElements = 1 << 17
	f.Fuzz(func(t *testing.T, n uint16, data []byte) {
		names := graph.OpNames()
		o, _ := graph.NewOp(names[int(n)%len(names)])
		if _, body := o.(graph.Control); body {
			return // what a body does is up to the body, loops without end included
		}
		s := optest.NewSource(data)
		optest.Fill(o, s, s.Byte() > 200)
		in := optest.Tensors(s)
		kept := make([][]byte, len(in))
		for i := range in {
			kept[i] = slices.Clone(in[i].Data)
		}
		declared := make([]tensor.Type, max(1, s.Below(8)-3))
		out, err := Compute(o, in, declared)
		if err != nil {
			if fault.KindOf(err) == fault.Internal {
				t.Fatalf("%s %+v: %v: %v", graph.NameOf(o), o, err, typesOf(in))
			}
			return
		}
		if len(out) != len(declared) {
			t.Fatalf("%s %+v: %d results for %d outputs of %v", graph.NameOf(o), o, len(out), len(declared), typesOf(in))
		}
		for i, y := range out {
			if size, ok := y.Type().ByteSize(); !ok || size != int64(len(y.Data)) {
				t.Fatalf("%s %+v: output %d: %v in %d bytes of %v", graph.NameOf(o), o, i, y.Type(), len(y.Data), typesOf(in))
			}
		}
		if broken := brokenTrait(o, in, out); broken != "" {
			t.Fatalf("%s %+v: %s", graph.NameOf(o), o, broken)
		}
		for i := range in {
			if !slices.Equal(kept[i], in[i].Data) {
				t.Fatalf("%s %+v: input %d is written: %v", graph.NameOf(o), o, i, typesOf(in))
			}
		}
	})
}

func typesOf(in []tensor.Tensor) []string {
	s := make([]string, len(in))
	for i, t := range in {
		s[i] = t.Type().String()
	}
	return s
}

// Every registered operator computes, or is listed with the reason why not.
func TestKernels_coverEveryOperator(t *testing.T) {
	without := map[string]string{
		"custom":   "stands for operators the project does not know; only a program can supply its function",
		"compiled": "a whole model made by the compiler of a vendor; only a device of that vendor computes it",
	}
	for _, name := range graph.OpNames() {
		o, _ := graph.NewOp(name)
		_, excused := without[name]
		if Has(o) == excused {
			t.Errorf("%s: kernel %v, listed as without: %v", name, Has(o), excused)
		}
	}
}
