package rules

import (
	"fmt"

	"github.com/anynpu/anynpu/conformance/nnapi"
)

// levelVariable makes the library one of an older feature level.
const levelVariable = "ANYNPU_NNAPI_FEATURE_LEVEL"

// levelValues are those of FeatureLevelCode, from level 1 on.
var levelValues = []int64{27, 28, 29, 30, 31, 1000006, 1000007, 1000008}

// typeLevels are the feature levels of the types, by their codes (types notes).
var typeLevels = [...]int{nnapi.Float32: 1, nnapi.Int32: 1, nnapi.Uint32: 1, nnapi.TensorFloat32: 1,
	nnapi.TensorInt32: 1, nnapi.TensorQuant8Asymm: 1, nnapi.Bool: 3, nnapi.TensorQuant16Symm: 3, nnapi.TensorFloat16: 3,
	nnapi.TensorBool8: 3, nnapi.Float16: 3, nnapi.TensorQuant8SymmPerChannel: 3, nnapi.TensorQuant16Asymm: 3,
	nnapi.TensorQuant8Symm: 3, nnapi.TensorQuant8AsymmSigned: 4, nnapi.ModelOperand: 4}

// operationLevels are the feature levels from which some operations take float32, with their operands: x and z are
// tensors of two elements, a the activation, k an axis, K a tensor with one; the result is y, or Y of two times two.
var operationLevels = []struct {
	name, inputs, output string
	level                int
}{
	{"ADD", "xza", "y", 1}, {"FLOOR", "x", "y", 1}, {"LOGISTIC", "x", "y", 1}, {"MUL", "xza", "y", 1},
	{"RELU", "x", "y", 1}, {"TANH", "x", "y", 1}, {"DIV", "xza", "y", 2}, {"SUB", "xza", "y", 2}, {"ABS", "x", "y", 3},
	{"EXP", "x", "y", 3}, {"LOG", "x", "y", 3}, {"MAXIMUM", "xz", "y", 3}, {"MINIMUM", "xz", "y", 3},
	{"NEG", "x", "y", 3}, {"POW", "xz", "y", 3}, {"RSQRT", "x", "y", 3}, {"SIN", "x", "y", 3}, {"SQRT", "x", "y", 3},
	{"HARD_SWISH", "x", "y", 4}, {"PACK", "kxz", "Y", 6}, {"REVERSE", "xK", "y", 7},
}

// ofType is an operand that is good at the level of its type.
func (t *T) ofType(code int32) *nnapi.OperandType {
	switch code {
	case nnapi.Float32, nnapi.Int32, nnapi.Uint32, nnapi.Bool, nnapi.Float16, nnapi.ModelOperand:
		return t.Type(code)
	case nnapi.TensorQuant8Asymm, nnapi.TensorQuant16Symm, nnapi.TensorQuant16Asymm, nnapi.TensorQuant8Symm,
		nnapi.TensorQuant8AsymmSigned:
		return t.Quantized(code, 1, 0, 2)
	}
	return t.Type(code, 2, 2)
}

// operands are the operands that operationLevels names.
func (t *T) operands() (*nnapi.Model, map[rune]uint32) {
	m := t.Model()
	of := map[rune]uint32{}
	for _, name := range "xzy" {
		of[name] = m.Operand(nnapi.TensorFloat32, 2)
	}
	of['Y'] = m.Operand(nnapi.TensorFloat32, 2, 2)
	of['a'], of['k'] = m.Scalar(0), m.Scalar(0)
	of['K'] = nnapi.Value[int32](m, one(m), 0)
	return m, of
}

// levels: a library of each feature level takes what the level has, and nothing newer (sections 0 and 1, types notes).
func levels() (list []*Rule) {
	for i, value := range levelValues {
		level, setting := i+1, fmt.Sprint(levelVariable, "=", value)
		list = append(list, rule(letters("1.v", i)+fmt.Sprint("_level_", level), fmt.Sprintf("a library of feature level %d "+
			"says %d, and takes types and operations of this level and older ones", level, value)).
			OK("says", func(t *T) {
				got := new(int64)
				t.OK("Device_getFeatureLevel", device(t), got)
				runtime := int64(t.Call("_getRuntimeFeatureLevel"))
				t.Check(*got == value && runtime == value, "the device says %d, the runtime %d", *got, runtime)
			}).With(setting).
			OK("types", func(t *T) {
				m := t.Model()
				for code, since := range typeLevels {
					if since <= level {
						m.Add(t.ofType(int32(code)))
					}
				}
			}).With(setting).
			No("newer_types", func(t *T) {
				m := t.Model()
				for code, since := range typeLevels {
					if since > level {
						t.Bad("Model_addOperand", m.Handle, t.ofType(int32(code)))
					}
				}
				t.Bad("Model_addOperand", m.Handle, t.Type(int32(len(typeLevels)), 2))
			}).With(setting).
			OK("operations", func(t *T) { t.operate(level, true) }).With(setting).
			No("newer_operations", func(t *T) { t.operate(level, false) }).With(setting))
	}
	return list
}

// operate adds the operations that a level has, or demands that the others are refused, and what no level has.
func (t *T) operate(level int, has bool) {
	m, of := t.operands()
	for _, o := range operationLevels {
		if o.level <= level != has {
			continue
		}
		var inputs []uint32
		for _, name := range o.inputs {
			inputs = append(inputs, of[name])
		}
		want := nnapi.BadData
		if has {
			want = nnapi.NoError
		}
		m.Operates(want, o.name, inputs, []uint32{of[rune(o.output[0])]})
	}
	if !has {
		t.Bad("Model_addOperation", m.Handle, 106, 1, []uint32{of['x']}, 1, []uint32{of['y']})
	}
}
