package rules

import (
	"slices"
	"strings"

	"github.com/anynpu/anynpu/conformance/rknn"
)

const (
	f16  = uint32(1)
	i8   = uint32(2)
	i16  = uint32(4)
	i32  = uint32(6)
	i4   = uint32(10)
	bf16 = uint32(11)
	f32  = uint32(0)
)

// refuse demands that a product cannot be made, and that the context stays as it was.
func (t *T) refuse(i info) {
	ctx := uintptr(4711)
	t.Bad("matmul_create", &ctx, &i, &ioAttr{})
	t.Check(ctx == 4711, "the context was changed to %#x", ctx)
}

// small is the smallest product of a type that every board takes.
func small(kind uint32) info { return info{M: 2, K: 32, N: 64, Kind: kind} }

// gone is a context that was destroyed.
func (t *T) gone() uintptr {
	o, i := object{Attrs: &ioAttr{}}, small(2)
	t.OK("matmul_create", &o.Ctx, &i, o.Attrs)
	t.OK("matmul_destroy", o.Ctx)
	return o.Ctx
}

func setAll[E any](m uintptr, v E) {
	d := rknn.Data[E](m)
	for i := range d {
		d[i] = v
	}
}

func repeated[T any](v T, n int) []T {
	out := make([]T, n)
	for i := range out {
		out[i] = v
	}
	return out
}

// onBoards makes cases for every board of those that are for none yet.
func onBoards(rules ...*Rule) []*Rule {
	for _, r := range rules {
		var cases []*Case
		for _, c := range r.Cases {
			if slices.ContainsFunc(c.Setting, func(s string) bool { return strings.HasPrefix(s, rknn.On("")) }) {
				cases = append(cases, c)
				continue
			}
			for _, board := range rknn.Boards {
				on := *c
				on.Name, on.Setting = c.Name+"_"+board, append([]string{rknn.On(board)}, c.Setting...)
				cases = append(cases, &on)
			}
		}
		r.Cases = cases
	}
	return rules
}
