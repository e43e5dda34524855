package boundary

import (
	"math"
	"testing"
	"unsafe"

	"github.com/stretchr/testify/assert"
	"golang.org/x/sys/unix"
)

// shape is a struct as C has it: a count, numbers, a name, and where more are.
type shape struct {
	rank    uint32
	dims    [4]int32
	name    [8]byte
	scale   float32
	kind    int32
	values  uintptr
	inner   uintptr
	ready   bool
	_       [3]byte
	percent [2]uint8
}

var kinds = Enum{Names: []Enumerator{{-1, "NONE"}, {0, "FLOAT"}, {2, "INT"}}}

// shapeLayout is a generator's layout of shape, whose inner leads to another.
var shapeLayout = Layout{Name: "shape", Size: unsafe.Sizeof(shape{})}

func init() {
	var s shape
	rank := &Field{Offset: unsafe.Offsetof(s.rank), Kind: Unsigned, Size: 4}
	shapeLayout.Fields = []Field{
		{Name: "rank", Kind: Unsigned, Size: 4},
		{Name: "dims", Offset: unsafe.Offsetof(s.dims), Kind: Signed, Size: 4, Array: 4, Length: rank},
		{Name: "name", Offset: unsafe.Offsetof(s.name), Kind: Char, Size: 1, Array: 8},
		{Name: "scale", Offset: unsafe.Offsetof(s.scale), Kind: Float, Size: 4},
		{Name: "kind", Offset: unsafe.Offsetof(s.kind), Kind: Signed, Size: 4, Enum: &kinds},
		{Name: "values", Offset: unsafe.Offsetof(s.values), Kind: Pointer, Size: 8, Of: Float, Width: 8, Length: rank},
		{Name: "inner", Offset: unsafe.Offsetof(s.inner), Kind: Nested, Size: 8, Struct: &shapeLayout, Follow: true},
		{Name: "ready", Offset: unsafe.Offsetof(s.ready), Kind: Bool, Size: 1},
		{Name: "percent", Offset: unsafe.Offsetof(s.percent), Kind: Unsigned, Size: 1, Array: 2},
	}
}

func TestStruct_byField(t *testing.T) {
	values := []float64{0.5, math.Inf(1)}
	s := shape{rank: 2, dims: [4]int32{3, -4, 9, 9}, scale: 0.1, kind: 2, ready: true, percent: [2]uint8{255, 1}}
	copy(s.name[:], "a\"b")
	s.values = uintptr(unsafe.Pointer(&values[0]))
	want := `{rank=2, dims=[3, -4], name="a\"b", scale=0.1, kind=INT, values=[0.5, +Inf], inner=NULL, ready=true, ` +
		`percent=[255, 1]}`
	p := unsafe.Pointer(&s)
	assert.Equal(t, want, Struct(p, &shapeLayout, false)(true))
	assert.Equal(t, "["+want+"]", StructArray(p, 1, &shapeLayout, true)(false))
	assert.Equal(t, addressText(uintptr(p)), Struct(p, &shapeLayout, false)(false), "a refused call has stored nothing")
	assert.Equal(t, "NULL", Struct(nil, &shapeLayout, true)(true))

	s.inner = uintptr(p) // leads to itself
	text := Struct(p, &shapeLayout, true)(true)
	assert.Contains(t, text, "inner={rank=2, ")
	assert.Less(t, len(text), 1000, "the depth is bounded")
	assert.Contains(t, ChosenStruct(p, uint64(unsafe.Sizeof(s)), 7, []Choice{{7, &shapeLayout}})(true), "kind=INT")
	assert.Equal(t, addressText(uintptr(p)), ChosenStruct(p, 8, 7, []Choice{{7, &shapeLayout}})(true), "too small")
	assert.Equal(t, addressText(uintptr(p)), ChosenStruct(p, 999, 8, []Choice{{7, &shapeLayout}})(true), "no choice")
}

// TestStruct_memoryThatEnds: numbers of a hostile program lead nowhere, and to more than there is.
func TestStruct_memoryThatEnds(t *testing.T) {
	page, err := unix.Mmap(-1, 0, int(pageSize), unix.PROT_READ|unix.PROT_WRITE, unix.MAP_PRIVATE|unix.MAP_ANON)
	assert.NoError(t, err)
	gone := uintptr(unsafe.Pointer(&page[0]))
	assert.NoError(t, unix.Munmap(page))
	s := shape{rank: math.MaxUint32, kind: -1, values: gone, inner: gone}
	text := Struct(unsafe.Pointer(&s), &shapeLayout, true)(true)
	assert.Contains(t, text, "dims=[0, 0, 0, 0]")
	assert.Contains(t, text, "kind=NONE, values="+addressText(gone)+", inner="+addressText(gone))
	assert.Equal(t, addressText(gone), StructArray(cPointer(gone), 1<<60, &shapeLayout, true)(true))
	many := make([]int32, 20)
	assert.Equal(t, "[0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, ...]",
		NumberArray(unsafe.Pointer(&many[0]), 20, Signed, 4, nil, true)(true))
}

func TestEnum_text(t *testing.T) {
	flags := Enum{Names: []Enumerator{{0, "NOTHING"}, {1, "A"}, {4, "B"}}, Bits: true}
	for n, want := range map[int64]string{0: "NOTHING", 1: "A", 5: "A|B", 6: "B|0x2", 8: "0x8"} {
		assert.Equal(t, want, flags.text(n))
	}
	assert.Equal(t, "NONE", kinds.text(-1))
	assert.Equal(t, "77", kinds.text(77))
	n := int32(-1)
	assert.Contains(t, OutNamed(unsafe.Pointer(&n), 4, &kinds)(true), "->NONE")
	text := []byte("in\x00")
	at := uintptr(unsafe.Pointer(&text[0]))
	assert.Contains(t, OutText(unsafe.Pointer(&at))(true), `->"in"`)
}

func TestResultText(t *testing.T) {
	text := []byte("1.2\x00")
	at := uintptr(unsafe.Pointer(&text[0]))
	assert.Equal(t, "NONE", resultText(&Func{Result: &kinds}, int32(-1)))
	assert.Equal(t, "-1", resultText(&Func{}, int32(-1)))
	assert.Equal(t, `"1.2"`, resultText(&Func{Text: true}, at))
	assert.Equal(t, addressText(at), resultText(&Func{}, at))
	assert.Equal(t, "NULL", resultText(&Func{Text: true}, uintptr(0)))
	assert.Equal(t, "true", resultText(&Func{}, true))
}
