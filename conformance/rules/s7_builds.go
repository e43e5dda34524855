package rules

import "os"

// option is a setting that Build judges: fine is accepted, and out of range is refused.
func option(r *Rule, setter string, fine []any, outside []any) *Rule {
	r.ok("in_range", func(t *T) {
		for _, v := range fine {
			c := t.unbuilt()
			t.ok(setter, c, v)
			t.builds(c)
		}
	})
	return r.no("out_of_range", func(t *T) {
		for _, v := range outside {
			c := t.unbuilt()
			t.ok(setter, c, v)
			t.bad("Compilation_Build", c)
		}
	})
}

// after demands a code of a setting after a build.
func (t *T) after(want int, setter string, args ...any) {
	t.is(want, setter, append([]any{t.built(2)}, args...)...)
}

var builds = []*Rule{
	rule("s7_Build", "compiles; NULL is INVALID").
		ok("builds", func(t *T) { t.builds(t.unbuilt()) }).
		no("NULL", func(t *T) { t.bad("Compilation_Build", nil) }),
	rule("s7_Build_sources", "more than one source among model, offline model and imported buffer is INVALID").
		ok("one", func(t *T) { t.builds(t.unbuilt()) }).
		no("offline_and_imported", func(t *T) { t.bad("Compilation_Build", t.imports(t.offlineFile("/nonexistent"), []byte("x"))) }).
		no("before_device", func(t *T) {
			c := t.imports(t.offlineFile("/nonexistent"), []byte("x"))
			t.ok("Compilation_SetDevice", c, t.unknownDevice())
			t.bad("Compilation_Build", c)
		}),
	rule("s7_Build_twice", "a Build after one that came as far as the options is INVALID, whether that one succeeded or not").
		ok("after_unknown_device", func(t *T) {
			c := t.unbuilt()
			t.ok("Compilation_SetDevice", c, t.unknownDevice())
			t.is(failed, "Compilation_Build", c)
			t.ok("Compilation_SetDevice", c, 0)
			t.builds(c)
		}).
		no("after_success", func(t *T) { t.bad("Compilation_Build", t.built(2)) }).
		no("after_failure", func(t *T) {
			m := t.unfinished(2)
			c := t.compilation(m)
			t.bad("Compilation_Build", c)
			t.ok("Model_Finish", m)
			t.bad("Compilation_Build", c)
		}),
	rule("s7_Build_device", "an unknown device is FAILED, before options are judged").
		ok("known", func(t *T) {
			c := t.unbuilt()
			t.ok("Compilation_SetDevice", c, t.deviceIDs()[0])
			t.builds(c)
		}).
		no("unknown", func(t *T) {
			c := t.unbuilt()
			t.ok("Compilation_SetDevice", c, t.unknownDevice())
			t.ok("Compilation_SetPriority", c, 99)
			t.is(failed, "Compilation_Build", c)
		}),
	option(rule("s7_Build_performance", "a performance mode above EXTREME is INVALID"),
		"Compilation_SetPerformanceMode", []any{0, 1, 2, 3, 4}, []any{5, int32(-1)}),
	option(rule("s7_Build_priority", "a priority above HIGH is INVALID"), "Compilation_SetPriority", []any{0, 1, 2, 3}, []any{4, int32(-1)}),
	rule("s7_Build_float16", "float16 on a device without it is FORBIDDEN").
		ok("on", func(t *T) {
			c := t.unbuilt()
			t.ok("Compilation_EnableFloat16", c, true)
			t.builds(c)
		}).
		ok("off_without", func(t *T) {
			c := t.unbuiltOn(noFloat16Device)
			t.ok("Compilation_EnableFloat16", c, false)
			t.builds(c)
		}).
		no("on_without", func(t *T) {
			c := t.unbuiltOn(noFloat16Device)
			t.ok("Compilation_EnableFloat16", c, true)
			t.is(forbid, "Compilation_Build", c)
		}),
	rule("s7_Build_unfinished", "a model that is not finished is INVALID").
		ok("finished", func(t *T) { t.builds(t.unbuilt()) }).
		no("unfinished", func(t *T) { t.bad("Compilation_Build", t.compilation(t.unfinished(2))) }).
		no("empty", func(t *T) { t.bad("Compilation_Build", t.compilation(t.emptyModel())) }),
	rule("s7_Build_order", "a Build judges sources, repetition, device, options and model, then the cache").
		ok("nothing_wrong", func(t *T) { t.builds(t.withCache(t.unbuilt(), t.dir, 1)) }).
		no("repetition_before_device", func(t *T) {
			c := t.unbuilt()
			t.ok("Compilation_SetPriority", c, 99)
			t.bad("Compilation_Build", c)
			t.is(t.by(forbid, success), "Compilation_SetDevice", c, t.unknownDevice())
			t.bad("Compilation_Build", c)
		}).
		no("device_before_model", func(t *T) {
			c := t.compilation(t.emptyModel())
			t.ok("Compilation_SetDevice", c, t.unknownDevice())
			t.is(failed, "Compilation_Build", c)
		}).
		no("model_before_cache", func(t *T) {
			t.cached(3)
			t.bad("Compilation_Build", t.withCache(t.compilation(t.unfinished(2)), t.dir, 2))
		}).
		no("options_before_cache", func(t *T) {
			t.cached(3)
			c := t.withCache(t.unbuilt(), t.dir, 2)
			t.ok("Compilation_SetPerformanceMode", c, 77)
			t.bad("Compilation_Build", c)
		}),
	rule("s7_Build_for_cache", "an empty compilation whose cache restores nothing is INVALID").
		ok("restored", func(t *T) {
			t.cached(3)
			c := t.forCache()
			t.ok("Compilation_SetCache", c, t.dir, 3)
			t.builds(c)
		}).
		no("no_cache", func(t *T) {
			c := t.forCache()
			t.ok("Compilation_SetCache", c, t.dir, 3)
			t.bad("Compilation_Build", c)
		}).
		no("newer_version_wanted", func(t *T) {
			t.cached(3)
			c := t.forCache()
			t.ok("Compilation_SetCache", c, t.dir, 4)
			t.bad("Compilation_Build", c)
		}),
	rule("s7_Build_save", "a cache that cannot be saved is reported although the model is compiled: an executor can be made").
		ok("saved", func(t *T) { t.cached(1) }).
		no("missing_directory", func(t *T) {
			c := t.unbuilt()
			t.ok("Compilation_SetCache", c, t.dir+"/missing", 1)
			t.bad("Compilation_Build", c)
			t.runs(t.executorOf(c))
		}).
		no("data_file_is_a_directory", func(t *T) {
			t.check(os.Mkdir(t.dir+"/0.nncache", 0o755) == nil, "mkdir")
			c := t.withCache(t.unbuilt(), t.dir, 1)
			t.bad("Compilation_Build", c)
			t.runs(t.executorOf(c))
		}).
		no("info_file_is_a_directory", func(t *T) {
			t.check(os.Mkdir(t.dir+"/"+infoFile, 0o755) == nil, "mkdir")
			c := t.withCache(t.unbuilt(), t.dir, 1)
			t.is(badFile, "Compilation_Build", c)
			t.runs(t.executorOf(c))
		}).
		no("reserved_version", func(t *T) {
			c := t.unbuilt()
			t.ok("Compilation_SetCache", c, t.dir, uint32(4294967295))
			t.bad("Compilation_Build", c)
			t.runs(t.executorOf(c))
		}),
}
