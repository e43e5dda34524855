//go:build !noasm

package kernel

import (
	"fmt"
	"reflect"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
)

// Each instruction set of arm64 has a kernel of its own, or of a lower one, for everything in the table that is
// computed at all.
func TestTable_hasEveryKernel(t *testing.T) {
	generic := reflect.ValueOf(genericTable())
	for name, table := range map[string]table{"neon": neonTable(), "dotprod": dotprodTable(), "fp16": fp16Table(),
		"i8mm": i8mmTable()} {
		t.Run(name, func(t *testing.T) {
			v := reflect.ValueOf(table)
			for i := range v.NumField() {
				if v.Type().Field(i).Name == "blockDots" && name == "neon" {
					continue // it lacks products of four bytes
				}
				fullTable(t, v.Type().Field(i).Name, v.Field(i), generic.Field(i))
			}
		})
	}
}

// without are the places that have no kernel on any processor, and those that arm64 computes otherwise: copyBytes by
// Go's own vectors, softmax and its logarithm by other kernels, the others by Go or as float32.
var without = func() map[string]bool {
	m := map[string]bool{}
	for _, whole := range []string{"copyBytes", "softmax", "logSoftmax", "expTotal", "sumAbs", "repeatRows",
		"maxPairs", "max3"} {
		m[whole] = true
	}
	for op := range numUnary {
		if fast := neonTable().unary[op]; fast == nil || op < Clamp || op >= Sin { // or by way of float64
			m[fmt.Sprintf("halves[0].unary[%d]", op)] = true
		}
		m[fmt.Sprintf("halves[1].unary[%d]", op)] = neonTable().halves[Brain16].unary[op] == nil // by way of float32
	}
	for h := range numHalfTypes {
		for _, place := range []string{"vv", "vs", "sv"} {
			m[fmt.Sprintf("halves[%d].%s[%d]", h, place, Pow)] = true
		}
	}
	m["halves[1].quotient"], m["halves[1].affine"] = true, true
	m["transpose[2]"] = true // transpose8 serves 4 bytes
	for op := range Clamp {  // computed as a clamp, or not at all
		m[fmt.Sprintf("unary[%d]", op)] = true
	}
	for a := range 4 {
		for b := range 4 {
			if a <= b {
				m[fmt.Sprintf("narrow[%d][%d]", a, b)] = true
			}
			if a >= b {
				m[fmt.Sprintf("widen[0][%d][%d]", a, b)], m[fmt.Sprintf("widen[1][%d][%d]", a, b)] = true, true
			}
		}
	}
	for op := range numSized {
		if !op.Folds() {
			m[fmt.Sprintf("foldIntegers[%d]", op)] = true
		}
	}
	for size := range 4 {
		m[fmt.Sprintf("split[%d]", size)], m[fmt.Sprintf("splitIn3[%d]", size)] = size != 2, true
	}
	for op := range numFolds {
		m[fmt.Sprintf("fold[%d]", op)] = true
	}
	for op := range numQuotients {
		for _, place := range []string{"quotientsVV", "quotientsVS"} {
			m[fmt.Sprintf("%s[%d][%d]", place, kindOf[float32](), op)] = op != ModTrunc
		}
	}
	return m
}()

// fullTable fails for functions that are not there, or that are the portable ones.
func fullTable(t *testing.T, at string, v, generic reflect.Value) {
	if without[at] {
		return
	}
	switch v.Kind() {
	case reflect.Array:
		for i := range v.Len() {
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

func TestWithout_namesPlaces(t *testing.T) {
	fields := reflect.TypeFor[table]()
	for at := range without {
		name, _, _ := strings.Cut(at, "[")
		_, ok := fields.FieldByName(name)
		assert.True(t, ok, at)
	}
}
