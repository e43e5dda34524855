//go:build !noasm

package kernel

import (
	"fmt"
	"reflect"
	"testing"

	"github.com/stretchr/testify/assert"
)

// Each instruction set of arm64 has a kernel of its own, or of a lower one, for everything in the table but the functions
// that are computed as a clamp, or not at all.
func TestTable_hasEveryKernel(t *testing.T) {
	generic := reflect.ValueOf(genericTable())
	for name, table := range map[string]table{"neon": neonTable(), "dotprod": dotprodTable(), "i8mm": i8mmTable()} {
		t.Run(name, func(t *testing.T) { fullTable(t, "table", reflect.ValueOf(table), generic) })
	}
}

// fullTable fails for functions that are not there, or that are the portable ones.
func fullTable(t *testing.T, at string, v, generic reflect.Value) {
	switch v.Kind() {
	case reflect.Struct:
		for i := range v.NumField() {
			fullTable(t, at+"."+v.Type().Field(i).Name, v.Field(i), generic.Field(i))
		}
	case reflect.Array:
		first := 0
		if at == "table.unary" {
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
