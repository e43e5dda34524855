//go:build !noasm

package kernel

import (
	"fmt"
	"reflect"
	"testing"

	"github.com/stretchr/testify/assert"
)

// portable are the fields that arm64 leaves to Go, or of which it has kernels for some types.
var portable = map[string]bool{
	"compareVV": true, "compareVS": true, "integersVV": true, "integersVS": true, "foldIntegers": true, "selects": true,
	"integersEach": true, "narrow": true, "widen": true, "int32ToFloat": true, "uint32ToFloat": true,
	"doubleToFloat": true,
	"floatToDouble": true, "brainToFloat": true, "floatToBrain": true, "int64ToFloat": true, "floatToInt32": true,
	"copyBytes": true, "copyRows": true, "merge": true, "enlarge": true, "transpose": true, "better": true,
	"running": true,
	"split4":  true,
}

// Each instruction set of arm64 has a kernel of its own, or of a lower one, for everything else in the table but the
// functions that are computed as a clamp, or not at all.
func TestTable_hasEveryKernel(t *testing.T) {
	generic := reflect.ValueOf(genericTable())
	for name, table := range map[string]table{"neon": neonTable(), "dotprod": dotprodTable(), "i8mm": i8mmTable()} {
		t.Run(name, func(t *testing.T) {
			v := reflect.ValueOf(table)
			for i := range v.NumField() {
				if field := v.Type().Field(i).Name; !portable[field] {
					fullTable(t, field, v.Field(i), generic.Field(i))
				}
			}
			for kind := range 3 { // float32, int32, int64
				fullTable(t, "compareVV", v.FieldByName("compareVV").Index(kind), generic.FieldByName("compareVV").Index(kind))
			}
		})
	}
}

// fullTable fails for functions that are not there, or that are the portable ones.
func fullTable(t *testing.T, at string, v, generic reflect.Value) {
	switch v.Kind() {
	case reflect.Array:
		first := 0
		if at == "unary" {
			first = int(Clamp)
		}
		for i := first; i < v.Len(); i++ {
			fullTable(t, fmt.Sprintf("%s[%d]", at, i), v.Index(i), generic.Index(i))
		}
	case reflect.Func:
		assert.False(t, v.IsNil(), "%s: no kernel", at)
		if !generic.IsNil() {
			assert.NotEqual(t, generic.Pointer(), v.Pointer(), "%s: the portable one", at)
		}
	case reflect.Pointer:
		assert.False(t, v.IsNil(), "%s: no kernels", at)
	}
}
