package onnx

import (
	"math"
	"testing"

	"github.com/stretchr/testify/assert"
)

// ofNewest is a model of the newest opset whose nodes make f, of initializer w or of x, to which it adds x, [1,1,n].
func ofNewest(n int64, w msg, nodes ...msg) []byte {
	nodes = append(nodes, nodeMsg("Add", []string{"f", "x"}, []string{"y"}))
	fields := []msg{input("x", 1, 1, n), output("y")}
	if w != nil {
		fields = append(fields, initial(w))
	}
	return msg(nil).num(1, 14).sub(7, graphMsg(nodes, fields...)).sub(8, msg(nil).num(2, 28))
}

// smallTypes are the element types that opsets 24 to 28 brought, with five numbers and how a file stores them: raw, and
// as the list of int32_data.
var smallTypes = []struct {
	number uint64
	name   string
	want   []float32
	raw    []byte
	listed []uint64
}{
	{24, "float8e8m0", []float32{1, 2, 0.5, 0x1p127, 0x1p-127}, []byte{127, 128, 126, 254, 0},
		[]uint64{127, 128, 126, 254, 0}},
	{25, "uint2", []float32{0, 1, 2, 3, 1}, []byte{0b11100100, 0b01}, []uint64{0b11100100, 0b01}},
	{26, "int2", []float32{0, 1, -2, -1, 1}, []byte{0b11100100, 0b01}, []uint64{0b11100100, 0b01}},
	{27, "float6e2m3", []float32{1, -7.5, 0.125, 2.5, 0}, []byte{0xc8, 0x1f, 0x48, 0}, []uint64{8, 63, 1, 18, 0}},
	{28, "float6e3m2", []float32{1, -28, 0.0625, 2.5, 0}, []byte{0xcc, 0x1f, 0x44, 0}, []uint64{12, 63, 1, 17, 0}},
}

func TestImport_readsSmallTypes(t *testing.T) {
	x := []float32{0, 0, 0, 0, 0}
	toFloat := nodeMsg("Cast", []string{"w"}, []string{"f"}, numAttr("to", 1))
	for _, c := range smallTypes {
		head := msg(nil).num(1, 5).num(2, c.number).str(8, "w")
		list := msg(nil)
		for _, v := range c.listed {
			list = append(list, varint(v)...)
		}
		for form, w := range map[string]msg{"raw": head.str(9, string(c.raw)), "listed": head.str(5, string(list))} {
			for _, got := range computedBoth(t, ofNewest(5, w, toFloat), x) {
				assert.Equal(t, c.want, got, "%s %s", c.name, form)
			}
			value := msg(nil).str(1, "value").sub(5, w).num(20, 4)
			constant := nodeMsg("Constant", nil, []string{"w"}, value)
			for _, got := range computedBoth(t, ofNewest(5, nil, constant, toFloat), x) {
				assert.Equal(t, c.want, got, "constant of %s %s", c.name, form)
			}
			assert.ErrorContains(t, imported(t, ofNewest(5, head.str(9, string(c.raw[1:])), toFloat), ""),
				c.name+"[5] takes", "%s %s", c.name, form)
		}
		// To the type and back: these numbers are in it.
		there := nodeMsg("Cast", []string{"x"}, []string{"w"}, numAttr("to", int64(c.number)))
		double := make([]float32, 5)
		for i, v := range c.want {
			double[i] = v + v
		}
		for _, got := range computedBoth(t, ofNewest(5, nil, there, toFloat), c.want) {
			assert.Equal(t, double, got, c.name)
		}
	}
}

func varint(v uint64) msg {
	var m msg
	for ; v > 127; v >>= 7 {
		m = append(m, byte(v)|128)
	}
	return append(m, byte(v))
}

// Numbers beyond small integers keep their low bits, those beyond small floats become the largest.
func TestImport_castsToSmallTypes(t *testing.T) {
	nan := float32(math.NaN())
	x := []float32{9.7, -3.2, 100, -0.75}
	for _, c := range []struct {
		to    int64
		want  []float32
		attrs []msg
	}{
		{22, []float32{-7, -3, 4, 0}, nil}, // 9, -3, 100 = 0b1100100
		{21, []float32{9, 13, 4, 0}, nil},  // -3 is 13
		{26, []float32{1, 1, 0, 0}, nil},   // 0b01, 0b01, 0b00
		{25, []float32{1, 1, 0, 0}, nil},   // 9, -3 = 0b...01
		{27, []float32{7.5, -3.25, 7.5, -0.75}, nil},
		{28, []float32{10, -3, 28, -0.75}, nil},
		{23, []float32{6, -3, 6, -1}, nil}, // -0.75 lies between -0.5 and -1, which is even
		{24, []float32{16, 4, 128, 1}, nil},
		{24, []float32{8, 4, 128, 1}, []msg{textAttr("round_mode", "nearest")}},
		{24, []float32{8, 2, 64, 0.5}, []msg{textAttr("round_mode", "down"), numAttr("saturate", 0)}},
	} {
		there := nodeMsg("Cast", []string{"x"}, []string{"w"}, append(c.attrs, numAttr("to", c.to))...)
		back := nodeMsg("Cast", []string{"w"}, []string{"v"}, numAttr("to", 1))
		zero := nodeMsg("Sub", []string{"v", "x"}, []string{"f"})
		for _, got := range computedBoth(t, ofNewest(4, nil, there, back, zero), x) {
			assert.InDeltaSlice(t, c.want, got, 1e-5, "to %d", c.to)
		}
	}
	zeros := nodeMsg("Cast", []string{"x"}, []string{"w"}, numAttr("to", 24), numAttr("saturate", 0))
	back := nodeMsg("Cast", []string{"w"}, []string{"f"}, numAttr("to", 1))
	for _, got := range computedBoth(t, ofNewest(2, nil, zeros, back), []float32{0, 1}) {
		assert.True(t, got[0] != got[0] && got[1] == 2, "%v, want %v 2", got, nan)
	}
	err := imported(t, ofVersion(28, "Cast", numAttr("to", 24), textAttr("round_mode", "even")), "")
	assert.ErrorContains(t, err, `attribute round_mode: "even"`)
	assert.ErrorContains(t, imported(t, ofVersion(28, "Cast", numAttr("to", 29)), ""), "element type 29 is none")
}

// Optional values are known while the model is read.
func TestImport_optionalValues(t *testing.T) {
	n := func(op, out string, in ...string) msg { return nodeMsg(op, in, []string{out}) }
	number := nodeMsg("Cast", []string{"b"}, []string{"f"}, numAttr("to", 1))
	x := []float32{3, 4}
	for _, got := range computedBoth(t, ofNewest(2, nil, n("OptionalHasElement", "b", "x"), number), x) {
		assert.Equal(t, []float32{4, 5}, got)
	}
	for _, in := range [][]string{nil, {""}} {
		for _, got := range computedBoth(t, ofNewest(2, nil, n("OptionalHasElement", "b", in...), number), x) {
			assert.Equal(t, []float32{3, 4}, got)
		}
	}
	made := []msg{n("Optional", "o", "x"), n("OptionalGetElement", "f", "o")}
	for _, got := range computedBoth(t, ofNewest(2, nil, made...), x) {
		assert.Equal(t, []float32{6, 8}, got)
	}
	assert.ErrorContains(t, imported(t, ofNewest(2, nil, n("Optional", "f")), ""), "an optional value that is not there")
	assert.ErrorContains(t, imported(t, ofNewest(2, nil, n("Optional", "f", "x", "x")), ""), "want 1 input, got 2")
	assert.ErrorContains(t, imported(t, ofNewest(2, nil, n("OptionalHasElement", "f", "x", "x")), ""), "want 0 to 1 input")
}
