package rknnrules

var masks = []uint32{0, 1, 2, 4, 3, 7, 0xffff}

// coreMasks sets each mask, of which the board takes these.
func coreMasks(taken ...uint32) func(*T) {
	return func(t *T) {
		ctx := t.open(relu(1, 4), 0)
		for _, m := range masks {
			want := failed
			for _, x := range taken {
				if x == m {
					want = success
				}
			}
			t.is(want, "set_core_mask", ctx, m)
		}
		t.ok("set_core_mask", ctx, taken[len(taken)-1])
		t.works(ctx)
	}
}

var _ = section(
	rule("7.a_core_mask", "0, 1, 2, 4, 3, 7 and 0xffff are accepted, and change no result; others are FAIL and the "+
		"context stays as it was").
		ok("masks", coreMasks(masks...)).
		no("others", func(t *T) {
			ctx := t.open(relu(1, 4), 0)
			t.ok("set_core_mask", ctx, 1)
			for _, m := range []uint32{5, 6, 8, 0x10000, 1<<32 - 1} {
				t.is(failed, "set_core_mask", ctx, m)
				t.says("core_mask is")
			}
			t.works(ctx)
		}),
	rule("7.b_boards", "a board of two cores takes no third one, a board of one core only AUTO").
		ok("two", coreMasks(0, 1, 2, 3, 0xffff)).on("rk3576").
		no("one", func(t *T) {
			ctx := t.open(relu(1, 4), 0)
			t.ok("set_core_mask", ctx, 0)
			for _, m := range masks[1:] {
				t.is(failed, "set_core_mask", ctx, m)
				t.says("rk3566", "one core")
			}
			t.works(ctx)
		}).on("rk3566"),
	rule("7.c_any_time", "a mask may be set at any time, per context").
		ok("between", func(t *T) {
			ctx := t.open(relu(1, 4), 0)
			t.works(ctx)
			t.ok("set_core_mask", ctx, 2)
			t.ok("set_core_mask", t.dup(ctx), 4)
			t.works(ctx)
		}).
		no("ended", func(t *T) {
			ctx := t.open(relu(1, 4), 0)
			t.ok("destroy", ctx)
			t.is(badContext, "set_core_mask", ctx, 1)
		}),
	rule("7.d_batch_core_num", "1 to 3 are accepted, others PARAM_INVALID").
		ok("numbers", func(t *T) {
			for n := 1; n <= 3; n++ {
				ctx := t.open(relu(1, 4), 0)
				t.ok("set_batch_core_num", ctx, n)
				t.works(ctx)
			}
		}).
		no("others", func(t *T) {
			for _, n := range []int32{0, 4, -1, 1 << 30} {
				t.bad("set_batch_core_num", t.open(relu(1, 4), 0), n)
			}
		}),
)
