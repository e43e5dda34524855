package rules

import (
	"os"
	"os/signal"
	"slices"
	"syscall"
)

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

// options demands a code of a build with these options.
func (t *T) options(want int, c uintptr, float16 bool, performance, priority int) {
	t.ok("Compilation_EnableFloat16", c, float16)
	t.ok("Compilation_SetPerformanceMode", c, performance)
	t.ok("Compilation_SetPriority", c, priority)
	t.is(want, "Compilation_Build", c)
}

// additionAndRelu is a finished model of two operations.
func (t *T) additionAndRelu() uintptr {
	m := t.openModel(2)
	t.ok("Model_AddTensorToModel", m, t.desc(float32T, 2))
	t.ok("Model_AddOperation", m, opAdd, list(3), list(0, 1), list(2))
	t.ok("Model_AddOperation", m, opRelu, &array{}, list(2), list(4))
	t.ok("Model_SpecifyInputsAndOutputs", m, list(0, 1), list(4))
	t.ok("Model_Finish", m)
	return m
}

// withLimit runs f with a limit of the process's resources.
func (t *T) withLimit(resource int, n uint64, f func()) {
	var old syscall.Rlimit
	t.check(syscall.Getrlimit(resource, &old) == nil, "getrlimit")
	signal.Ignore(syscall.SIGXFSZ)
	defer signal.Reset(syscall.SIGXFSZ)
	limit := syscall.Rlimit{Cur: n, Max: old.Max}
	t.check(syscall.Setrlimit(resource, &limit) == nil, "setrlimit")
	defer func() { _ = syscall.Setrlimit(resource, &old) }()
	f()
}

var builds = []*Rule{
	rule("s7_Build", "compiles; NULL is INVALID").
		ok("builds", func(t *T) { t.builds(t.unbuilt()) }).
		no("NULL", func(t *T) { t.bad("Compilation_Build", nil) }),
	rule("s7_Build_sources", "more than one source among model, offline model and imported buffer is INVALID").
		ok("one", func(t *T) { t.builds(t.unbuilt()) }).
		no("offline_and_imported", func(t *T) {
			t.bad("Compilation_Build", t.imports(t.offlineFile("/nonexistent"),
				[]byte("x")))
		}).
		no("before_device", func(t *T) {
			c := t.imports(t.offlineFile("/nonexistent"), []byte("x"))
			t.ok("Compilation_SetDevice", c, t.unknownDevice())
			t.bad("Compilation_Build", c)
		}),
	rule("s7_Build_twice", "a Build after one that came as far as the options is INVALID, whether that one succeeded or "+
		"not").
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
	option(rule("s7_Build_priority", "a priority above HIGH is INVALID"), "Compilation_SetPriority", []any{0, 1, 2, 3},
		[]any{4, int32(-1)}),
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
	rule("s7_Build_cache", "a cache directory on a device without caches is FORBIDDEN; no directory is none").
		ok("empty_path", func(t *T) { t.builds(t.withCache(t.unbuiltOn(noCacheDevice), "", 1)) }).
		ok("device_with_caches", func(t *T) { t.builds(t.withCache(t.unbuiltOn(plainCacheDevice), t.dir, 1)) }).
		no("device_without", func(t *T) {
			t.is(forbid, "Compilation_Build", t.withCache(t.unbuiltOn(noCacheDevice), t.dir, 1))
			entries, err := os.ReadDir(t.dir)
			t.check(err == nil && len(entries) == 0, "files %v", entries)
		}),
	rule("s7_Build_options_order", "options are judged in order: cache, float16, performance, priority; the device's "+
		"ability before the value's range").
		ok("nothing_set", func(t *T) { t.builds(t.unbuiltOn(plainDevice)) }).
		no("cache_before_performance", func(t *T) {
			t.options(forbid, t.withCache(t.unbuiltOn(noCacheDevice), t.dir, 1), false, 77, 0)
		}).
		no("float16_before_performance", func(t *T) { t.options(forbid, t.unbuiltOn(noFloat16Device), true, 77, 0) }).
		no("performance_before_priority", func(t *T) { t.options(invalid, t.unbuiltOn(noPriorityDevice), false, 77, 1) }).
		no("ability_before_range", func(t *T) {
			t.options(forbid, t.unbuiltOn(plainDevice), false, 77, 0)
			t.options(forbid, t.unbuiltOn(plainDevice), false, 0, 77)
		}).
		no("options_before_model", func(t *T) {
			c := t.compilation(t.unfinished(2))
			t.ok("Compilation_SetDevice", c, t.named(plainDevice))
			t.options(forbid, c, false, 0, 1)
		}),
	rule("s7_Build_operations", "an operation that the device does not compute is FAILED").
		ok("computed", func(t *T) { t.ok("Compilation_Build", t.compilation(t.additionAndRelu())) }).
		no("not_computed", func(t *T) {
			c := t.compilation(t.additionAndRelu())
			t.ok("Compilation_SetDevice", c, t.named(plainDevice))
			t.is(failed, "Compilation_Build", c)
			t.null("Executor_Construct", c)
		}),
	rule("s7_Build_preparation", "a model that the device cannot prepare is FAILED").
		ok("fixed_shape", func(t *T) { t.builds(t.unbuiltOn(plainDevice)) }).
		no("dynamic_shape", func(t *T) { t.is(failed, "Compilation_Build", t.unbuiltOn(plainDevice, -1)) }),
	rule("s7_Build_cache_refused", "a cache that is sound but that the device refuses is as good as none").
		ok("compiled", func(t *T) {
			t.cached(5)
			t.replace(0, func(b []byte) []byte { return slices.Repeat([]byte{7}, len(b)) })
			t.cached(5)
			t.builds(t.withCache(t.forCache(), t.dir, 5))
		}).
		no("for_cache", func(t *T) {
			t.cached(5)
			t.replace(0, func(b []byte) []byte { return slices.Repeat([]byte{7}, len(b)) })
			t.bad("Compilation_Build", t.withCache(t.forCache(), t.dir, 5))
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
	rule("s7_Build_save", "a cache that cannot be saved is reported although the model is compiled: an executor can be "+
		"made").
		ok("saved", func(t *T) { t.cached(1) }).
		no("no_room", func(t *T) {
			c := t.withCache(t.unbuilt(), t.dir, 1)
			t.withLimit(syscall.RLIMIT_FSIZE, 8, func() { t.is(saveErr, "Compilation_Build", c) })
			t.runs(t.executorOf(c))
		}).
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
