package rules

import "github.com/anynpu/anynpu/conformance/rknn"

var masks = []uint32{0, 1, 2, 4, 3, 7, 0xffff}

// coreMasks sets each mask, of which the board takes these.
func coreMasks(taken ...uint32) func(*T) {
	return func(t *T) {
		ctx := t.Open(relu(1, 4), 0)
		for _, m := range masks {
			want := failed
			for _, x := range taken {
				if x == m {
					want = success
				}
			}
			t.Is(want, "set_core_mask", ctx, m)
		}
		t.OK("set_core_mask", ctx, taken[len(taken)-1])
		t.works(ctx)
	}
}

var cores = []*Rule{
	rule("7.a_core_mask", "0, 1, 2, 4, 3, 7 and 0xffff are accepted, and change no result; others are FAIL and the "+
		"context stays as it was").
		OK("masks", coreMasks(masks...)).
		No("others", func(t *T) {
			ctx := t.Open(relu(1, 4), 0)
			t.OK("set_core_mask", ctx, 1)
			for _, m := range []uint32{5, 6, 8, 0x10000, 1<<32 - 1} {
				t.Is(failed, "set_core_mask", ctx, m)
				t.Says("core_mask is")
			}
			t.works(ctx)
		}),
	rule("7.b_boards", "a board of two cores takes no third one, a board of one core only AUTO").
		OK("two", coreMasks(0, 1, 2, 3, 0xffff)).With(rknn.On("rk3576")).
		No("one", func(t *T) {
			ctx := t.Open(relu(1, 4), 0)
			t.OK("set_core_mask", ctx, 0)
			for _, m := range masks[1:] {
				t.Is(failed, "set_core_mask", ctx, m)
				t.Says("rk3566", "one core")
			}
			t.works(ctx)
		}).With(rknn.On("rk3566")),
	rule("7.c_any_time", "a mask may be set at any time, per context").
		OK("between", func(t *T) {
			ctx := t.Open(relu(1, 4), 0)
			t.works(ctx)
			t.OK("set_core_mask", ctx, 2)
			t.OK("set_core_mask", t.Dup(ctx), 4)
			t.works(ctx)
		}).
		No("ended", func(t *T) {
			ctx := t.Open(relu(1, 4), 0)
			t.OK("destroy", ctx)
			t.Is(badContext, "set_core_mask", ctx, 1)
		}),
	rule("7.d_batch_core_num", "1 to 3 are accepted, others PARAM_INVALID").
		OK("numbers", func(t *T) {
			for n := 1; n <= 3; n++ {
				ctx := t.Open(relu(1, 4), 0)
				t.OK("set_batch_core_num", ctx, n)
				t.works(ctx)
			}
		}).
		No("others", func(t *T) {
			for _, n := range []int32{0, 4, -1, 1 << 30} {
				t.Bad("set_batch_core_num", t.Open(relu(1, 4), 0), n)
			}
		}),
}
