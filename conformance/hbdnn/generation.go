package hbdnn

import (
	"bytes"
	"slices"
	"unsafe"

	"github.com/anynpu/anynpu/conformance/suite"
	"github.com/anynpu/anynpu/conformance/suite/cmem"
)

// Modes are the generations of the headers that a program can be built with. A library that serves only one of them is
// judged in that mode.
var Modes = []suite.Mode{
	{Name: "1.23", Environ: []string{"ANYNPU_HBDNN_ABI=1.23"}},
	{Name: "1.18", Environ: []string{"ANYNPU_HBDNN_ABI=1.18"}},
	{Name: "1.14", Environ: []string{"ANYNPU_HBDNN_ABI=1.14"}},
	{Name: "1.12", Environ: []string{"ANYNPU_HBDNN_ABI=1.12"}},
	{Name: "1.9", Environ: []string{"ANYNPU_HBDNN_ABI=1.9"}},
}

// generation is how a version of the headers lays out hbDNNTensorProperties (types notes, section 2).
type generation struct {
	size         int
	axis, stride bool
}

func (t *T) generation() generation {
	switch t.Mode {
	case "1.9", "1.12":
		return generation{size: 136}
	case "1.14":
		return generation{size: 144, axis: true}
	}
	return generation{size: int(unsafe.Sizeof(Properties{})), axis: true, stride: true}
}

// HasAxis reports whether the version of the headers has the member quantizeAxis.
func (t *T) HasAxis() bool { return t.generation().axis }

// HasStride reports whether the version of the headers has the member stride.
func (t *T) HasStride() bool { return t.generation().stride }

// common are the bytes that all generations have in the same places, and the ones after them those that differ.
const common = 132

// put writes properties as the generation has them.
func (g generation) put(raw []byte, p *Properties) {
	all := unsafe.Slice((*byte)(unsafe.Pointer(p)), unsafe.Sizeof(*p))
	at := copy(raw[:common], all)
	if g.axis {
		at += copy(raw[at:at+4], all[132:])
	}
	at += copy(raw[at:at+4], all[136:])
	if g.stride {
		copy(raw[at:], all[140:])
	}
}

// get reads properties. What the generation lacks is 0.
func (g generation) get(p *Properties, raw []byte) {
	*p = Properties{}
	all := unsafe.Slice((*byte)(unsafe.Pointer(p)), unsafe.Sizeof(*p))
	at := copy(all[:common], raw)
	if g.axis {
		at += copy(all[132:136], raw[at:])
	}
	at += copy(all[136:140], raw[at:])
	if g.stride {
		copy(all[140:], raw[at:g.size])
	}
}

// tensors writes tensors as the generation has them.
func (g generation) tensors(list []Tensor) []byte {
	const memory = int(unsafe.Offsetof(Tensor{}.Properties))
	raw := make([]byte, len(list)*(memory+g.size))
	for i := range list {
		one := raw[i*(memory+g.size):]
		copy(one[:memory], unsafe.Slice((*byte)(unsafe.Pointer(&list[i])), memory))
		g.put(one[memory:], &list[i].Properties)
	}
	return raw
}

// Outputs is the argument that points to the address of an array of tensors.
type Outputs []Tensor

// behind is what lies behind a struct that a library fills, and stays.
var behind = bytes.Repeat([]byte{0xa5}, 64)

// Is demands a return code. Properties and tensors are handed over as the mode's generation has them.
func (t *T) Is(want int, function string, args ...any) {
	g, same := t.generation(), t.Mode == "" || t.Mode == "1.23" || t.Mode == "1.18"
	var after []func()
	own := slices.Clone(args)
	for i, a := range own {
		switch v := a.(type) {
		case Outputs:
			at := cmem.First([]Tensor(v))
			if !same {
				raw := g.tensors(v)
				t.Keep(raw)
				at = cmem.First(raw)
			}
			own[i] = &[]uintptr{at}[0]
		case []Tensor:
			if !same && len(v) > 0 {
				own[i] = g.tensors(v)
			}
		case *Properties:
			if same || v == nil {
				continue
			}
			raw := append(make([]byte, g.size), behind...)
			g.put(raw, v)
			own[i] = raw
			after = append(after, func() {
				g.get(v, raw)
				t.Check(bytes.Equal(raw[g.size:], behind), "%s writes behind the properties of %s", function, t.Mode)
			})
		}
	}
	t.T.Is(want, function, own...)
	for _, f := range after {
		f()
	}
}

// OK demands that a call is accepted.
func (t *T) OK(function string, args ...any) { t.Is(Success, function, args...) }

// Bad demands that a call is refused because of an argument.
func (t *T) Bad(function string, args ...any) { t.Is(InvalidArgument, function, args...) }
