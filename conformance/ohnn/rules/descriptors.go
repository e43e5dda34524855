package rules

import (
	"fmt"
	"os"
	"slices"
	"strings"

	"github.com/anynpu/anynpu/conformance/suite/cmem"
)

func (t *T) shape(d uintptr) []int32 {
	var p uintptr
	var n uint64
	t.OK("TensorDesc_GetShape", d, &p, &n)
	return cmem.Copy[int32](p, int(n))
}

func (t *T) wantShape(d uintptr, want ...int32) {
	got := t.shape(d)
	t.Check(slices.Equal(got, want), "shape %v, want %v", got, want)
}

func (t *T) name(d uintptr) string {
	var p uintptr
	t.OK("TensorDesc_GetName", d, &p)
	return cmem.Text(p)
}

// resident is how many bytes of the process are in memory.
func (t *T) resident() int {
	text, err := os.ReadFile("/proc/self/statm")
	var size, pages int
	if err == nil {
		_, err = fmt.Sscan(string(text), &size, &pages)
	}
	t.Check(err == nil, "statm: %v", err)
	return pages * os.Getpagesize()
}

// enum reads an enumerator through a getter.
func (t *T) enum(getter string, d uintptr) int32 {
	v := int32(-1)
	t.OK(getter, d, &v)
	return v
}

// size reads a size through a getter; the variable holds something before.
func (t *T) size(getter string, object uintptr) uint64 {
	v := uint64(77)
	t.OK(getter, object, &v)
	return v
}

// edges accepts lo to hi of an enumerator and refuses their neighbours.
func edges(r *Rule, setter, getter string, lo, hi int32) *Rule {
	return r.OK("every_value", func(t *T) {
		d := t.desc(float32T)
		for v := lo; v <= hi; v++ {
			t.OK(setter, d, v)
			got := t.enum(getter, d)
			t.Check(got == v, "set %d, got %d", v, got)
		}
	}).
		No("below", func(t *T) { t.Bad(setter, t.desc(float32T), lo-1) }).
		No("above", func(t *T) { t.Bad(setter, t.desc(float32T), hi+1) }).
		No("NULL", func(t *T) { t.Bad(setter, nil, lo) })
}

// getter refuses a NULL object and a NULL variable.
func nulls(r *Rule, getter string, object func(*T) uintptr) *Rule {
	return r.No("NULL_object", func(t *T) { t.Bad(getter, nil, new(uint64)) }).
		No("NULL_variable", func(t *T) { t.Bad(getter, object(t), nil) })
}

func floatDesc(t *T) uintptr { return t.desc(float32T, 2, 3) }

var descriptors = []*Rule{
	rule("s3_TensorDesc_Create", "a new descriptor has data type UNKNOWN, format NONE, no shape and an empty name").
		OK("defaults", func(t *T) {
			d := t.object("TensorDesc_Destroy", t.Ptr("TensorDesc_Create"))
			t.Check(t.enum("TensorDesc_GetDataType", d) == 0, "data type")
			t.Check(t.enum("TensorDesc_GetFormat", d) == 0, "format")
			t.Check(t.name(d) == "", "name")
			t.wantShape(d)
		}).
		No("not_enough", func(t *T) {
			d := t.object("TensorDesc_Destroy", t.Ptr("TensorDesc_Create"))
			t.Bad("TensorDesc_GetElementCount", d, new(uint64))
			t.Bad("TensorDesc_GetByteSize", d, new(uint64))
			t.Null("Tensor_CreateWithSize", 0, d, 64)
		}),
	rule("s3_TensorDesc_Destroy", "ends a descriptor and clears the variable; NULL and a variable with NULL are INVALID").
		OK("clears", func(t *T) {
			d := t.Ptr("TensorDesc_Create")
			t.OK("TensorDesc_Destroy", &d)
			t.Check(d == 0, "the variable holds %#x", d)
		}).
		OK("frees", func(t *T) {
			name, shape := strings.Repeat("n", 1<<16), make([]int32, 10)
			before := t.resident()
			for range 3000 { // 190 MiB of names
				d := t.Ptr("TensorDesc_Create")
				t.OK("TensorDesc_SetName", d, name)
				t.OK("TensorDesc_SetShape", d, shape, len(shape))
				t.Check(len(t.name(d)) == len(name), "another name")
				t.shape(d)
				t.OK("TensorDesc_Destroy", &d)
			}
			grown := t.resident() - before
			t.Check(grown < 96<<20, "the process has grown by %d bytes", grown)
		}).
		No("NULL", func(t *T) { t.Bad("TensorDesc_Destroy", nil) }).
		No("NULL_value", func(t *T) { t.Bad("TensorDesc_Destroy", new(uintptr)) }),
	rule("s3_TensorDesc_SetName", "copies the name, which may be empty; NULLs are INVALID").
		OK("copies", func(t *T) {
			d, name := floatDesc(t), []byte("first\x00")
			t.OK("TensorDesc_SetName", d, name)
			name[0] = 'X'
			t.Check(t.name(d) == "first", "got %q", t.name(d))
		}).
		OK("empty", func(t *T) { t.OK("TensorDesc_SetName", floatDesc(t), "") }).
		No("NULL_desc", func(t *T) { t.Bad("TensorDesc_SetName", nil, "x") }).
		No("NULL_name", func(t *T) { t.Bad("TensorDesc_SetName", floatDesc(t), nil) }),
	rule("s3_TensorDesc_GetName", "gives the name, a pointer to an empty string when none was set; NULLs and a variable "+
		"that holds no NULL are INVALID").
		OK("never_set", func(t *T) {
			var p uintptr
			t.OK("TensorDesc_GetName", floatDesc(t), &p)
			t.Check(p != 0 && cmem.Text(p) == "", "want an empty string")
		}).
		OK("stays_until_set", func(t *T) {
			d := floatDesc(t)
			t.OK("TensorDesc_SetName", d, "one")
			var p uintptr
			t.OK("TensorDesc_GetName", d, &p)
			t.name(d)
			t.Check(cmem.Text(p) == "one", "got %q", cmem.Text(p))
		}).
		No("NULL_desc", func(t *T) { t.Bad("TensorDesc_GetName", nil, new(uintptr)) }).
		No("NULL_variable", func(t *T) { t.Bad("TensorDesc_GetName", floatDesc(t), nil) }).
		No("variable_not_NULL", func(t *T) { t.Bad("TensorDesc_GetName", floatDesc(t), &[]uintptr{1}[0]) }),
	edges(rule("s3_TensorDesc_SetDataType", "takes 0 to 12, UNKNOWN included; others and NULL are INVALID"),
		"TensorDesc_SetDataType", "TensorDesc_GetDataType", 0, 12),
	nulls(rule("s3_TensorDesc_GetDataType", "gives the data type; NULLs are INVALID").
		OK("gives", func(t *T) { t.Check(t.enum("TensorDesc_GetDataType", floatDesc(t)) == float32T, "want FLOAT32") }),
		"TensorDesc_GetDataType", floatDesc),
	rule("s3_TensorDesc_SetShape", "takes 1 to 10 dimensions and copies them; NULLs, length 0 and more than 10 are "+
		"INVALID").
		OK("1_to_10", func(t *T) {
			d := t.desc(float32T)
			for n := 1; n <= 10; n++ {
				dims := slices.Repeat([]int32{2}, n)
				t.OK("TensorDesc_SetShape", d, dims, n)
				want := slices.Clone(dims)
				dims[0] = 9
				t.wantShape(d, want...)
			}
		}).
		No("NULL_desc", func(t *T) { t.Bad("TensorDesc_SetShape", nil, []int32{1}, 1) }).
		No("NULL_shape", func(t *T) { t.Bad("TensorDesc_SetShape", t.desc(float32T), nil, 1) }).
		No("length_0", func(t *T) { t.Bad("TensorDesc_SetShape", t.desc(float32T), []int32{1}, 0) }).
		No("length_11", func(t *T) { t.Bad("TensorDesc_SetShape", t.desc(float32T), make([]int32, 11), 11) }),
	rule("s3_TensorDesc_SetShape_values", "does not judge the dimensions").
		OK("any", func(t *T) { t.wantShape(t.desc(float32T, 0, -1, -5, 2147483647), 0, -1, -5, 2147483647) }).
		No("judged_when_used", func(t *T) {
			for _, n := range []int32{0, -5} {
				t.Bad("Model_AddTensorToModel", t.emptyModel(), t.desc(float32T, n))
			}
		}),
	rule("s3_TensorDesc_GetShape", "gives a pointer into the descriptor, NULL and 0 when no shape was set; NULLs and a "+
		"variable that holds no NULL are INVALID").
		OK("gives", func(t *T) { t.wantShape(floatDesc(t), 2, 3) }).
		OK("never_set", func(t *T) {
			p, n := uintptr(0), uint64(9)
			t.OK("TensorDesc_GetShape", t.desc(float32T), &p, &n)
			t.Check(p == 0 && n == 0, "want NULL and 0, got %#x and %d", p, n)
		}).
		OK("stays_until_set", func(t *T) {
			d, p, n := floatDesc(t), uintptr(0), uint64(0)
			t.OK("TensorDesc_GetShape", d, &p, &n)
			t.shape(d)
			t.Check(slices.Equal(cmem.Copy[int32](p, 2), []int32{2, 3}), "the array changed")
		}).
		No("NULL_desc", func(t *T) { t.Bad("TensorDesc_GetShape", nil, new(uintptr), new(uint64)) }).
		No("NULL_shape", func(t *T) { t.Bad("TensorDesc_GetShape", floatDesc(t), nil, new(uint64)) }).
		No("NULL_length", func(t *T) { t.Bad("TensorDesc_GetShape", floatDesc(t), new(uintptr), nil) }).
		No("shape_not_NULL", func(t *T) { t.Bad("TensorDesc_GetShape", floatDesc(t), &[]uintptr{1}[0], new(uint64)) }),
	edges(rule("s3_TensorDesc_SetFormat", "takes 0 to 3; others and NULL are INVALID"), "TensorDesc_SetFormat",
		"TensorDesc_GetFormat", 0, 3),
	nulls(rule("s3_TensorDesc_GetFormat", "gives the format; NULLs are INVALID").
		OK("gives", func(t *T) {
			d := floatDesc(t)
			t.OK("TensorDesc_SetFormat", d, 1)
			t.Check(t.enum("TensorDesc_GetFormat", d) == 1, "want NCHW")
		}), "TensorDesc_GetFormat", floatDesc),
	nulls(rule("s3_TensorDesc_GetElementCount", "multiplies the dimensions; NULLs and an overflow are INVALID").
		OK("product", func(t *T) {
			n := t.size("TensorDesc_GetElementCount", t.desc(float32T, 2, 3, 5))
			t.Check(n == 30, "%d elements, want 30", n)
		}).
		OK("32_bits_and_more", func(t *T) {
			n := t.size("TensorDesc_GetElementCount", t.desc(float32T, 65536, 65536, 2))
			t.Check(n == 1<<33, "%d elements", n)
		}).
		No("overflow", func(t *T) {
			t.Bad("TensorDesc_GetElementCount", t.desc(int8T, 2147483647, 2147483647, 2147483647), new(uint64))
		}), "TensorDesc_GetElementCount", floatDesc),
	rule("s3_TensorDesc_GetElementCount_no_shape", "a shape that was never set is INVALID, not 1").
		OK("set", func(t *T) { t.size("TensorDesc_GetElementCount", t.desc(float32T, 1)) }).
		No("never_set", func(t *T) { t.Bad("TensorDesc_GetElementCount", t.desc(float32T), new(uint64)) }),
	rule("s3_TensorDesc_GetElementCount_dynamic", "a dimension of 0 or less gives DYNAMIC_SHAPE and the count 0").
		OK("fixed", func(t *T) { t.size("TensorDesc_GetElementCount", t.desc(float32T, 1, 1)) }).
		No("dynamic", func(t *T) {
			for _, d := range []int32{-1, 0, -5} {
				n := uint64(9)
				t.Is(dynamic, "TensorDesc_GetElementCount", t.desc(float32T, 2, d), &n)
				t.Check(n == 0, "count %d", n)
			}
		}),
	nulls(rule("s3_TensorDesc_GetByteSize", "multiplies the elements with the size of one; NULLs, an overflow and the "+
		"data type UNKNOWN are INVALID").
		OK("every_type", func(t *T) {
			for dataType, want := range []uint64{0, 1, 1, 2, 4, 8, 1, 2, 4, 8, 2, 4, 8} {
				if want == 0 {
					continue
				}
				n := t.size("TensorDesc_GetByteSize", t.desc(int32(dataType), 3, 2))
				t.Check(n == 6*want, "data type %d: %d bytes for 6 elements, want %d", dataType, n, 6*want)
			}
		}).
		No("unknown_type", func(t *T) { t.Bad("TensorDesc_GetByteSize", t.desc(0, 2), new(uint64)) }).
		No("overflow", func(t *T) {
			t.Bad("TensorDesc_GetByteSize", t.desc(int64T, 2147483647, 2147483647, 2), new(uint64))
		}), "TensorDesc_GetByteSize", floatDesc),
	rule("s3_TensorDesc_GetByteSize_no_shape", "a shape that was never set is INVALID, and the size 0").
		OK("set", func(t *T) { t.size("TensorDesc_GetByteSize", t.desc(float32T, 1)) }).
		No("never_set", func(t *T) {
			n := uint64(9)
			t.Bad("TensorDesc_GetByteSize", t.desc(float32T), &n)
			t.Check(n == 0, "size %d", n)
		}),
}
