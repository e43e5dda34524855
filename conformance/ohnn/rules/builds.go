package rules

import (
	"os"
	"os/signal"
	"slices"
	"syscall"

	"github.com/anynpu/anynpu/conformance/ohnn"
)

// option is a setting that Build judges: fine is accepted, and out of range is refused.
func option(r *Rule, setter string, fine []any, outside []any) *Rule {
	r.OK("in_range", func(t *T) {
		for _, v := range fine {
			c := t.unbuilt()
			t.OK(setter, c, v)
			t.builds(c)
		}
	})
	return r.No("out_of_range", func(t *T) {
		for _, v := range outside {
			c := t.unbuilt()
			t.OK(setter, c, v)
			t.Bad("Compilation_Build", c)
		}
	})
}

// after demands a code of a setting after a build.
func (t *T) after(want int, setter string, args ...any) {
	t.Is(want, setter, append([]any{t.built(2)}, args...)...)
}

// options demands a code of a build with these options.
func (t *T) options(want int, c uintptr, float16 bool, performance, priority int) {
	t.OK("Compilation_EnableFloat16", c, float16)
	t.OK("Compilation_SetPerformanceMode", c, performance)
	t.OK("Compilation_SetPriority", c, priority)
	t.Is(want, "Compilation_Build", c)
}

// additionAndRelu is a finished model of two operations.
func (t *T) additionAndRelu() uintptr {
	m := t.openModel(2)
	t.OK("Model_AddTensorToModel", m, t.desc(float32T, 2))
	t.OK("Model_AddOperation", m, opAdd, ohnn.List(3), ohnn.List(0, 1), ohnn.List(2))
	t.OK("Model_AddOperation", m, opRelu, &ohnn.Array{}, ohnn.List(2), ohnn.List(4))
	t.OK("Model_SpecifyInputsAndOutputs", m, ohnn.List(0, 1), ohnn.List(4))
	t.OK("Model_Finish", m)
	return m
}

// withLimit runs f with a limit of the process's resources.
func (t *T) withLimit(resource int, n uint64, f func()) {
	var old syscall.Rlimit
	t.Check(syscall.Getrlimit(resource, &old) == nil, "getrlimit")
	signal.Ignore(syscall.SIGXFSZ)
	defer signal.Reset(syscall.SIGXFSZ)
	limit := syscall.Rlimit{Cur: n, Max: old.Max}
	t.Check(syscall.Setrlimit(resource, &limit) == nil, "setrlimit")
	defer func() { _ = syscall.Setrlimit(resource, &old) }()
	f()
}

var builds = []*Rule{
	rule("s7_Build", "compiles; NULL is INVALID").
		OK("builds", func(t *T) { t.builds(t.unbuilt()) }).
		No("NULL", func(t *T) { t.Bad("Compilation_Build", nil) }),
	rule("s7_Build_sources", "more than one source among model, offline model and imported buffer is INVALID").
		OK("one", func(t *T) { t.builds(t.unbuilt()) }).
		No("offline_and_imported", func(t *T) {
			t.Bad("Compilation_Build", t.imports(t.offlineFile("/nonexistent"),
				[]byte("x")))
		}).
		No("before_device", func(t *T) {
			c := t.imports(t.offlineFile("/nonexistent"), []byte("x"))
			t.OK("Compilation_SetDevice", c, t.unknownDevice())
			t.Bad("Compilation_Build", c)
		}),
	rule("s7_Build_twice", "a Build after one that came as far as the options is INVALID, whether that one succeeded or "+
		"not").
		OK("after_unknown_device", func(t *T) {
			c := t.unbuilt()
			t.OK("Compilation_SetDevice", c, t.unknownDevice())
			t.Is(failed, "Compilation_Build", c)
			t.OK("Compilation_SetDevice", c, 0)
			t.builds(c)
		}).
		No("after_success", func(t *T) { t.Bad("Compilation_Build", t.built(2)) }).
		No("after_failure", func(t *T) {
			m := t.unfinished(2)
			c := t.compilation(m)
			t.Bad("Compilation_Build", c)
			t.OK("Model_Finish", m)
			t.Bad("Compilation_Build", c)
		}),
	rule("s7_Build_device", "an unknown device is FAILED, before options are judged").
		OK("known", func(t *T) {
			c := t.unbuilt()
			t.OK("Compilation_SetDevice", c, t.deviceIDs()[0])
			t.builds(c)
		}).
		No("unknown", func(t *T) {
			c := t.unbuilt()
			t.OK("Compilation_SetDevice", c, t.unknownDevice())
			t.OK("Compilation_SetPriority", c, 99)
			t.Is(failed, "Compilation_Build", c)
		}),
	option(rule("s7_Build_performance", "a performance mode above EXTREME is INVALID"),
		"Compilation_SetPerformanceMode", []any{0, 1, 2, 3, 4}, []any{5, int32(-1)}),
	option(rule("s7_Build_priority", "a priority above HIGH is INVALID"), "Compilation_SetPriority", []any{0, 1, 2, 3},
		[]any{4, int32(-1)}),
	rule("s7_Build_float16", "float16 on a device without it is FORBIDDEN").
		OK("on", func(t *T) {
			c := t.unbuilt()
			t.OK("Compilation_EnableFloat16", c, true)
			t.builds(c)
		}).
		OK("off_without", func(t *T) {
			c := t.unbuiltOn(noFloat16Device)
			t.OK("Compilation_EnableFloat16", c, false)
			t.builds(c)
		}).
		No("on_without", func(t *T) {
			c := t.unbuiltOn(noFloat16Device)
			t.OK("Compilation_EnableFloat16", c, true)
			t.Is(forbid, "Compilation_Build", c)
		}),
	rule("s7_Build_cache", "a cache directory on a device without caches is FORBIDDEN; no directory is none").
		OK("empty_path", func(t *T) { t.builds(t.withCache(t.unbuiltOn(noCacheDevice), "", 1)) }).
		OK("device_with_caches", func(t *T) { t.builds(t.withCache(t.unbuiltOn(plainCacheDevice), t.Dir, 1)) }).
		No("device_without", func(t *T) {
			t.Is(forbid, "Compilation_Build", t.withCache(t.unbuiltOn(noCacheDevice), t.Dir, 1))
			entries, err := os.ReadDir(t.Dir)
			t.Check(err == nil && len(entries) == 0, "files %v", entries)
		}),
	rule("s7_Build_options_order", "options are judged in order: cache, float16, performance, priority; the device's "+
		"ability before the value's range").
		OK("nothing_set", func(t *T) { t.builds(t.unbuiltOn(plainDevice)) }).
		No("cache_before_performance", func(t *T) {
			t.options(forbid, t.withCache(t.unbuiltOn(noCacheDevice), t.Dir, 1), false, 77, 0)
		}).
		No("float16_before_performance", func(t *T) { t.options(forbid, t.unbuiltOn(noFloat16Device), true, 77, 0) }).
		No("performance_before_priority", func(t *T) { t.options(invalid, t.unbuiltOn(noPriorityDevice), false, 77, 1) }).
		No("ability_before_range", func(t *T) {
			t.options(forbid, t.unbuiltOn(plainDevice), false, 77, 0)
			t.options(forbid, t.unbuiltOn(plainDevice), false, 0, 77)
		}).
		No("options_before_model", func(t *T) {
			c := t.compilation(t.unfinished(2))
			t.OK("Compilation_SetDevice", c, t.named(plainDevice))
			t.options(forbid, c, false, 0, 1)
		}),
	rule("s7_Build_operations", "an operation that the device does not compute is FAILED").
		OK("computed", func(t *T) { t.OK("Compilation_Build", t.compilation(t.additionAndRelu())) }).
		No("not_computed", func(t *T) {
			c := t.compilation(t.additionAndRelu())
			t.OK("Compilation_SetDevice", c, t.named(plainDevice))
			t.Is(failed, "Compilation_Build", c)
			t.Null("Executor_Construct", c)
		}),
	rule("s7_Build_preparation", "a model that the device cannot prepare is FAILED").
		OK("fixed_shape", func(t *T) { t.builds(t.unbuiltOn(plainDevice)) }).
		No("dynamic_shape", func(t *T) { t.Is(failed, "Compilation_Build", t.unbuiltOn(plainDevice, -1)) }),
	rule("s7_Build_cache_refused", "a cache that is sound but that the device refuses is as good as none").
		OK("compiled", func(t *T) {
			t.cached(5)
			t.replace(0, func(b []byte) []byte { return slices.Repeat([]byte{7}, len(b)) })
			t.cached(5)
			t.builds(t.withCache(t.forCache(), t.Dir, 5))
		}).
		No("for_cache", func(t *T) {
			t.cached(5)
			t.replace(0, func(b []byte) []byte { return slices.Repeat([]byte{7}, len(b)) })
			t.Bad("Compilation_Build", t.withCache(t.forCache(), t.Dir, 5))
		}),
	rule("s7_Build_unfinished", "a model that is not finished is INVALID").
		OK("finished", func(t *T) { t.builds(t.unbuilt()) }).
		No("unfinished", func(t *T) { t.Bad("Compilation_Build", t.compilation(t.unfinished(2))) }).
		No("empty", func(t *T) { t.Bad("Compilation_Build", t.compilation(t.emptyModel())) }),
	rule("s7_Build_order", "a Build judges sources, repetition, device, options and model, then the cache").
		OK("nothing_wrong", func(t *T) { t.builds(t.withCache(t.unbuilt(), t.Dir, 1)) }).
		No("repetition_before_device", func(t *T) {
			c := t.unbuilt()
			t.OK("Compilation_SetPriority", c, 99)
			t.Bad("Compilation_Build", c)
			t.Is(t.by(forbid, success), "Compilation_SetDevice", c, t.unknownDevice())
			t.Bad("Compilation_Build", c)
		}).
		No("device_before_model", func(t *T) {
			c := t.compilation(t.emptyModel())
			t.OK("Compilation_SetDevice", c, t.unknownDevice())
			t.Is(failed, "Compilation_Build", c)
		}).
		No("model_before_cache", func(t *T) {
			t.cached(3)
			t.Bad("Compilation_Build", t.withCache(t.compilation(t.unfinished(2)), t.Dir, 2))
		}).
		No("options_before_cache", func(t *T) {
			t.cached(3)
			c := t.withCache(t.unbuilt(), t.Dir, 2)
			t.OK("Compilation_SetPerformanceMode", c, 77)
			t.Bad("Compilation_Build", c)
		}),
	rule("s7_Build_for_cache", "an empty compilation whose cache restores nothing is INVALID").
		OK("restored", func(t *T) {
			t.cached(3)
			c := t.forCache()
			t.OK("Compilation_SetCache", c, t.Dir, 3)
			t.builds(c)
		}).
		No("no_cache", func(t *T) {
			c := t.forCache()
			t.OK("Compilation_SetCache", c, t.Dir, 3)
			t.Bad("Compilation_Build", c)
		}).
		No("newer_version_wanted", func(t *T) {
			t.cached(3)
			c := t.forCache()
			t.OK("Compilation_SetCache", c, t.Dir, 4)
			t.Bad("Compilation_Build", c)
		}),
	rule("s7_Build_save", "a cache that cannot be saved is reported although the model is compiled: an executor can be "+
		"made").
		OK("saved", func(t *T) { t.cached(1) }).
		No("no_room", func(t *T) {
			c := t.withCache(t.unbuilt(), t.Dir, 1)
			t.withLimit(syscall.RLIMIT_FSIZE, 8, func() { t.Is(saveErr, "Compilation_Build", c) })
			t.runs(t.executorOf(c))
		}).
		No("missing_directory", func(t *T) {
			c := t.unbuilt()
			t.OK("Compilation_SetCache", c, t.Dir+"/missing", 1)
			t.Bad("Compilation_Build", c)
			t.runs(t.executorOf(c))
		}).
		No("data_file_is_a_directory", func(t *T) {
			t.Check(os.Mkdir(t.Dir+"/0.nncache", 0o755) == nil, "mkdir")
			c := t.withCache(t.unbuilt(), t.Dir, 1)
			t.Bad("Compilation_Build", c)
			t.runs(t.executorOf(c))
		}).
		No("info_file_is_a_directory", func(t *T) {
			t.Check(os.Mkdir(t.Dir+"/"+infoFile, 0o755) == nil, "mkdir")
			c := t.withCache(t.unbuilt(), t.Dir, 1)
			t.Is(badFile, "Compilation_Build", c)
			t.runs(t.executorOf(c))
		}).
		No("reserved_version", func(t *T) {
			c := t.unbuilt()
			t.OK("Compilation_SetCache", c, t.Dir, uint32(4294967295))
			t.Bad("Compilation_Build", c)
			t.runs(t.executorOf(c))
		}),
}
