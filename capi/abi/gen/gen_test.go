package main

import (
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/anynpu/anynpu/capi/abi"
	"github.com/anynpu/anynpu/capi/abi/abicheck/spec"
)

// one returns the only function of a façade with the structs of rknn.
func one(t *testing.T, row abi.Row) *function {
	f := &abi.Facade{Name: "toy", Prefix: "toy_", Drivers: true, Handles: map[string]abi.Handle{"toy": {Go: "Toy"}},
		Types: map[string]abi.Type{"rknn_tensor_mem": {Go: "Mem"}, "rknn_matmul_shape": {Go: "Shape"},
			"unknown": {Go: "Unknown"}},
		Rows: []abi.Row{row}}
	funcs, err := abi.Parse(f)
	require.NoError(t, err)
	types, err := spec.ReadAPI("../abicheck", "rknn")
	require.NoError(t, err)
	fc := &facade{Facade: f, types: types, words: map[string]int{}}
	fn := &function{Func: funcs[0], facade: fc, index: 7}
	fc.funcs = []*function{fn}
	return fn
}

func TestFindWords_wantsAWordThatIsListed(t *testing.T) {
	for owner, want := range map[string]string{
		"m->nothing": "has no field nothing",
		"m->fd":      "is no word of 64 bits",
		"u->owner":   "has struct unknown",
	} {
		fn := one(t, abi.Row{C: "int toy_f(rknn_tensor_mem *m, unknown *u)", Roles: "in, in", Owner: owner})
		assert.ErrorContains(t, fn.findWords(), want, owner)
	}
}

func TestRouter_asksEveryPlace(t *testing.T) {
	fn := one(t, abi.Row{C: "int toy_f(toy *t, toy **u, rknn_tensor_mem *m, rknn_matmul_shape s)",
		Roles: "handle, take, in, in", Owner: "t, *u, m->priv_data"})
	require.NoError(t, fn.findWords())
	require.NoError(t, fn.checkStructs())
	text := fn.router()
	assert.Contains(t, text, "(anynpu_owner(a0) | anynpu_owner_at(a1) | anynpu_owner_in(a2, 32)) == ANYNPU_THEIRS")
	assert.Contains(t, text, "MIXED(int32_t, return, 7, (uintptr_t a0, void * a1, void * a2, rknn_matmul_shape a3),")
	assert.Contains(t, fn.dead(), "rknn_matmul_shape a3")
	assert.Contains(t, fn.enter(), "&a3")
	assert.Contains(t, fn.facade.structs(), "int32_t M;")
}

func TestRouter_isNotNeededWhereNothingDecides(t *testing.T) {
	for _, owner := range []string{abi.OwnerDriver, abi.OwnerNever} {
		assert.Empty(t, one(t, abi.Row{C: "int toy_f(toy *t)", Roles: "handle", Owner: owner}).router())
	}
}

func TestCheckStructs_wantsTheFieldsOfAStructByValue(t *testing.T) {
	fn := one(t, abi.Row{C: "int toy_f(unknown u)", Roles: "in", Owner: abi.OwnerNever})
	assert.ErrorContains(t, fn.checkStructs(), "no list in abicheck has its fields")
}
