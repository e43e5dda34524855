package hbdnn

import (
	"strings"
	"unsafe"

	"github.com/anynpu/anynpu/capi/boundary"
)

// A generation is a version of the API's headers whose structs differ from those of others (types notes, section 1). It
// reads and writes them; nothing else asks for it.
type generation struct {
	name    string // value of ANYNPU_HBDNN_ABI
	version string // what hbDNNGetVersion says
	size    int    // bytes of hbDNNTensorProperties
	axis    bool   // it has quantizeAxis
	stride  bool   // it has stride
}

var generations = []generation{
	{name: "1.9", version: "1.9.7", size: 136},
	{name: "1.12", version: "1.12.3", size: 136},
	{name: "1.14", version: "1.14.1", size: 144, axis: true},
	{name: "1.18", version: "1.18.6", size: 176, axis: true, stride: true},
	{name: "1.23", version: "1.24.5", size: 176, axis: true, stride: true},
}

// shared are versions with the structs of a generation.
var shared = map[string]string{"1.19": "1.18", "1.22": "1.18", "1.24": "1.23"}

// Programs of the oldest generation pass other parameters to three functions.
func init() {
	boundary.Former("hbdnn", func() bool { return boundary.Getenv("ANYNPU_HBDNN_ABI") == generations[0].name })
}

func generationNamed(name string) *generation {
	newest := &generations[len(generations)-1]
	if name == "" {
		return newest
	}
	var names []string
	for i := range generations {
		if generations[i].name == name || generations[i].name == shared[name] {
			return &generations[i]
		}
		names = append(names, generations[i].name)
	}
	caution("value ignored "+
		"[hbdnn-value-ignored]", "ANYNPU_HBDNN_ABI", name, "want", strings.Join(names, ", "), "used", newest.name)
	return newest
}

// A description is everything that hbDNNTensorProperties can say.
type description struct {
	valid, aligned []int64
	layout, kind   int32
	coding         // what integers stand for
	bytes          int64
	stride         []int64
}

// store writes a program's struct.
func (g *generation) store(to *TensorProperties, d *description) {
	raw := unsafe.Slice((*byte)(unsafe.Pointer(to)), g.size)
	clear(raw)
	to.valid, to.aligned, to.layout, to.kind = shapeOf(d.valid), shapeOf(d.aligned), d.layout, d.kind
	switch to.quant = d.quant; d.quant {
	case quantScale:
		to.scaleLen, to.scale, to.zeroLen, to.zero = d.length, d.first, d.length, d.zero
	case quantShift:
		to.shiftLen, to.shift = d.length, d.first
	}
	at := 132
	if g.axis {
		put(raw, at, int32(d.axis))
		at += 4
	}
	put(raw, at, int32(d.bytes))
	if g.stride {
		for i, s := range d.stride {
			put(raw, at+4+4*i, int32(s))
		}
	}
}

func put(raw []byte, at int, v int32) { *(*int32)(unsafe.Pointer(&raw[at])) = v }

// tensors returns n tensors of a program's array.
func (g *generation) tensors(first *Tensor, n int) []*Tensor {
	size := uintptr(unsafe.Offsetof(Tensor{}.properties)) + uintptr(g.size)
	list := make([]*Tensor, n)
	for i := range list {
		list[i] = (*Tensor)(unsafe.Add(unsafe.Pointer(first), uintptr(i)*size))
	}
	return list
}

// coding says which numbers the integers of a port stand for, as the API describes it (section 7).
type coding struct {
	quant  int32   // NONE, SHIFT or SCALE
	first  uintptr // the scales or shifts, in C memory
	zero   uintptr // the zero points
	length int32   // of each list: 1, or the size of axis
	axis   int32   // in the order of validShape
}
