package rknn

import (
	"unsafe"

	"github.com/anynpu/anynpu/capi/boundary"
	"github.com/anynpu/anynpu/core/fault"
	"github.com/anynpu/anynpu/core/matrix"
	"github.com/anynpu/anynpu/core/mem"
	spec "github.com/anynpu/anynpu/core/spec/rknn"
)

// olderArgument is above every subN: a fifth argument below it is one, and none a pointer.
const olderArgument = 1 << 16

// bNormalLayoutToNativeLayout rearranges B of K rows and N columns for a product with B_layout 1 (matmul notes, section
// 4). It has two forms: programs of header 2.0 pass subN, subK and the type of product, later ones an rknn_matmul_info,
// of which the type is looked at.
func bNormalLayoutToNativeLayout(in, out unsafe.Pointer, k, n int32, info uintptr, subK int32, kind uint32) error {
	switch {
	case in == nil:
		return invalid("B_input is NULL: want K x N elements [rknn-b-input-null]")
	case out == nil:
		return invalid("B_output is NULL: want room for K x N elements [rknn-b-output-null]")
	}
	s, err := convertedSpec(info, subK, spec.MatmulType(kind))
	if err != nil {
		return err
	}
	shape := MatmulShape{1, k, n}
	if err := s.checkShape("", shape); err != nil {
		return err
	}
	size := s.bytes(shape, 1)
	for name, at := range map[string]unsafe.Pointer{"B_input": in, "B_output": out} {
		if err := boundary.CheckRange(at, uint64(size)); err != nil {
			return fault.Wrap(err, "%s", name)
		}
	}
	s.bLayout = layoutNormal
	from, to := s.operand(shape, 1), s.operand(shape, 1)
	to.Tiling = s.nativeB()
	from.Data, to.Data = unsafe.Slice((*byte)(in), size), unsafe.Slice((*byte)(out), size)
	if mem.OverlapMapped(from.Data, to.Data) {
		var err error
		if from.Data, err = mem.Clone(from.Data); err != nil {
			return fault.Wrap(err, "B_input")
		}
	}
	matrix.Rearrange(&to, &from)
	return nil
}

// convertedSpec takes the arguments of either form.
func convertedSpec(info uintptr, subK int32, kind spec.MatmulType) (matmulSpec, error) {
	subN := info
	if subN == 0 || subN >= olderArgument {
		i, err := infoAt(cPointer(info))
		if err != nil {
			return matmulSpec{}, err
		}
		return specOfType("info->type", i.Kind)
	}
	s, err := specOfType("type", kind)
	if err == nil && (int(subN) != s.tile.n || int(subK) != s.tile.k) {
		err = invalid("subN, subK: %d, %d: want %d, %d, as B.dims[2] and B.dims[3] of %s on %s "+
			"[rknn-sub-n-sub]", subN, subK, s.tile.n,
			s.tile.k, s.name, board().name)
	}
	return s, err
}
