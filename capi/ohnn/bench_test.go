package ohnn

import spec "github.com/anynpu/anynpu/core/spec/ohnn"

import "testing"

// BenchmarkRunSync is the cost of a run beside its computation: an ADD of two elements.
func BenchmarkRunSync(b *testing.B) {
	c := &Compilation{result: addCompiled(b)}
	e, err := executorConstruct(c)
	if err != nil {
		b.Fatal(err)
	}
	x, err := tensorCreate(0, desc(spec.Float32, 2))
	if err != nil {
		b.Fatal(err)
	}
	in, out := []*Tensor{x, x}, []*Tensor{x}
	b.ReportAllocs()
	for b.Loop() {
		if err := executorRunSync(e, in, out); err != nil {
			b.Fatal(err)
		}
	}
}
