package rules

import "github.com/anynpu/anynpu/conformance/ohnn"

// setter tells that a setting of a new compilation takes any value; a NULL compilation is INVALID.
func setter(r *Rule, function string, values ...any) *Rule {
	return r.OK("any_value", func(t *T) {
		for _, v := range values {
			t.OK(function, t.unbuilt(), v)
		}
	}).No("NULL", func(t *T) { t.Bad(function, nil, values[0]) })
}

// offline is an offline model file's path in the case's directory.
func (t *T) offlineFile(path any) uintptr {
	return t.object("Compilation_Destroy", t.Ptr("Compilation_ConstructWithOfflineModelFile", path))
}

func (t *T) offlineBuffer(b []byte) uintptr {
	t.Keep(b)
	return t.object("Compilation_Destroy", t.Ptr("Compilation_ConstructWithOfflineModelBuffer", b, len(b)))
}

// exported is a compiled model in a buffer. The reference exports none.
func (t *T) exported(dims ...int32) []byte {
	b, n := make([]byte, 1<<20), uint64(0)
	t.OK("Compilation_ExportCacheToBuffer", t.built(dims...), b, len(b), &n)
	return b[:n]
}

// imports makes a compilation with an imported buffer.
func (t *T) imports(c uintptr, b []byte) uintptr {
	t.Keep(b)
	t.OK("Compilation_ImportCacheFromBuffer", c, b, len(b))
	return c
}

var compilations = []*Rule{
	rule("s7_Construct", "makes a compilation of a model; NULL for NULL").
		OK("finished", func(t *T) { t.builds(t.unbuilt()) }).
		OK("finished_later", func(t *T) {
			m := t.unfinished(2)
			c := t.compilation(m)
			t.OK("Model_Finish", m)
			t.builds(c)
		}).
		No("NULL", func(t *T) { t.Null("Compilation_Construct", nil) }),
	rule("s7_Construct_lifetime", "the program may destroy the model before Build").
		OK("destroyed", func(t *T) {
			m := t.model(2)
			c := t.compilation(m)
			t.Call("Model_Destroy", &m)
			t.builds(c)
		}).
		No("destroyed_is_gone", func(t *T) {
			m := t.model(2)
			c, stale := t.compilation(m), m
			t.Call("Model_Destroy", &m)
			t.Null("Compilation_Construct", stale)
			t.builds(c)
		}),
	rule("s7_ConstructWithOfflineModelFile", "takes a path without opening it; NULL for NULL").
		OK("missing_file", func(t *T) { t.offlineFile("/nonexistent/model") }).
		No("NULL", func(t *T) { t.Null("Compilation_ConstructWithOfflineModelFile", nil) }),
	rule("s7_ConstructWithOfflineModelBuffer", "takes a buffer without reading it; NULL for NULL and size 0").
		OK("any_content", func(t *T) { t.offlineBuffer([]byte("no model")) }).
		No("NULL", func(t *T) { t.Null("Compilation_ConstructWithOfflineModelBuffer", nil, 8) }).
		No("size_0", func(t *T) { t.Null("Compilation_ConstructWithOfflineModelBuffer", []byte("x"), 0) }),
	rule("s7_offline_buffer_kept", "the buffer of an offline model and of an imported cache is not copied: what it "+
		"holds at Build counts").
		OK("filled_later", func(t *T) {
			good := t.exported(2)
			b := make([]byte, len(good))
			c := t.offlineBuffer(b)
			copy(b, good)
			t.builds(c)
		}).In(ohnn.Manual).
		OK("taken", func(t *T) { t.imports(t.forCache(), make([]byte, 9)) }).
		No("spoilt_later", func(t *T) {
			b := []byte("no model")
			if t.Mode == ohnn.Manual {
				b = t.exported(2)
			}
			c, i := t.offlineBuffer(b), t.imports(t.forCache(), b)
			clear(b)
			t.Is(failed, "Compilation_Build", c)
			t.Is(failed, "Compilation_Build", i)
		}),
	rule("s7_offline_build", "an offline model that the device cannot read is FAILED at Build").
		OK("own_export", func(t *T) { t.builds(t.offlineBuffer(t.exported(2))) }).In(ohnn.Manual).
		OK("online", func(t *T) { t.builds(t.unbuilt()) }).
		No("file", func(t *T) { t.Is(failed, "Compilation_Build", t.offlineFile("/nonexistent/model")) }).
		No("buffer", func(t *T) { t.Is(failed, "Compilation_Build", t.offlineBuffer([]byte("no model"))) }),
	rule("s7_ConstructForCache", "makes an empty compilation, which needs a cache").
		OK("with_cache", func(t *T) {
			t.cached(1)
			c := t.forCache()
			t.OK("Compilation_SetCache", c, t.Dir, 1)
			t.builds(c)
		}).
		No("without", func(t *T) { t.Bad("Compilation_Build", t.forCache()) }),
	rule("s7_ExportCacheToBuffer", "NULLs and length 0 are INVALID, and so is a compilation that no Build was tried on").
		OK("after_build", func(t *T) { t.Check(len(t.exported(2)) > 0, "nothing was written") }).In(ohnn.Manual).
		OK("by_files", func(t *T) { t.cached(1) }).
		No("after_build", func(t *T) {
			t.Is(unsup, "Compilation_ExportCacheToBuffer", t.built(2), make([]byte, 1<<20), 1<<20, new(uint64))
		}).In(ohnn.Reference).
		No("device_without_caches", func(t *T) {
			c := t.unbuiltOn(plainDevice)
			t.OK("Compilation_Build", c)
			t.Is(unsup, "Compilation_ExportCacheToBuffer", c, make([]byte, 1<<20), 1<<20, new(uint64))
		}).
		No("NULL_compilation", func(t *T) { t.Bad("Compilation_ExportCacheToBuffer", nil, make([]byte, 9), 9, new(uint64)) }).
		No("NULL_buffer", func(t *T) { t.Bad("Compilation_ExportCacheToBuffer", t.built(2), nil, 9, new(uint64)) }).
		No("length_0", func(t *T) { t.Bad("Compilation_ExportCacheToBuffer", t.built(2), make([]byte, 9), 0, new(uint64)) }).
		No("NULL_size", func(t *T) { t.Bad("Compilation_ExportCacheToBuffer", t.built(2), make([]byte, 9), 9, nil) }).
		No("build_failed", func(t *T) {
			c := t.unbuilt()
			t.OK("Compilation_SetPriority", c, 99)
			t.Bad("Compilation_Build", c)
			t.Is(t.by(invalid, unsup), "Compilation_ExportCacheToBuffer", c, make([]byte, 9), 9, new(uint64))
		}).
		No("device_unknown", func(t *T) {
			c := t.unbuilt()
			t.OK("Compilation_SetDevice", c, t.unknownDevice())
			t.Is(failed, "Compilation_Build", c)
			t.Bad("Compilation_ExportCacheToBuffer", c, make([]byte, 9), 9, new(uint64))
		}).
		No("not_built", func(t *T) {
			t.Bad("Compilation_ExportCacheToBuffer", t.unbuilt(), make([]byte, 9), 9,
				new(uint64))
		}),
	rule("s7_ImportCacheFromBuffer", "takes a buffer without reading it; NULLs and size 0 are INVALID").
		OK("any_content", func(t *T) { t.imports(t.forCache(), []byte("no cache")) }).
		No("NULL_compilation", func(t *T) { t.Bad("Compilation_ImportCacheFromBuffer", nil, []byte("x"), 1) }).
		No("NULL_buffer", func(t *T) { t.Bad("Compilation_ImportCacheFromBuffer", t.forCache(), nil, 1) }).
		No("size_0", func(t *T) { t.Bad("Compilation_ImportCacheFromBuffer", t.forCache(), []byte("x"), 0) }),
	rule("s7_ImportCacheFromBuffer_build", "a buffer that is no cache is FAILED at Build").
		OK("own_export", func(t *T) { t.builds(t.imports(t.forCache(), t.exported(2))) }).In(ohnn.Manual).
		OK("by_files", func(t *T) {
			t.cached(1)
			t.builds(t.withCache(t.forCache(), t.Dir, 1))
		}).
		No("garbage", func(t *T) { t.Is(failed, "Compilation_Build", t.imports(t.forCache(), []byte("no cache"))) }),
	rule("s7_AddExtensionConfig", "copies a value under a name; NULLs, an empty name and size 0 are INVALID").
		OK("copies", func(t *T) {
			c, value := t.unbuilt(), []byte("name")
			t.OK("Compilation_AddExtensionConfig", c, "ModelName", value, 4)
			copy(value, "/..\x00")
			t.OK("Compilation_SetCache", c, t.Dir, 1)
			t.builds(c)
			t.exists("namecache_info.nncache", "name0.nncache")
		}).
		No("NULL_compilation", func(t *T) { t.Bad("Compilation_AddExtensionConfig", nil, "n", []byte("v"), 1) }).
		No("NULL_name", func(t *T) { t.Bad("Compilation_AddExtensionConfig", t.unbuilt(), nil, []byte("v"), 1) }).
		No("NULL_value", func(t *T) { t.Bad("Compilation_AddExtensionConfig", t.unbuilt(), "n", nil, 1) }).
		No("empty_name", func(t *T) { t.Bad("Compilation_AddExtensionConfig", t.unbuilt(), "", []byte("v"), 1) }).
		No("size_0", func(t *T) { t.Bad("Compilation_AddExtensionConfig", t.unbuilt(), "n", []byte("v"), 0) }),
	rule("s7_AddExtensionConfig_repeated", "a name given again appends | and the new value").
		OK("joined", func(t *T) {
			c := t.unbuilt()
			t.OK("Compilation_AddExtensionConfig", c, "ModelName", []byte("a"), 1)
			t.OK("Compilation_AddExtensionConfig", c, "ModelName", []byte("b"), 1)
			t.OK("Compilation_SetCache", c, t.Dir, 1)
			t.builds(c)
			t.exists("a|bcache_info.nncache")
		}).
		No("refused_repetition", func(t *T) {
			c := t.withCache(t.unbuilt(), t.Dir, 1)
			t.OK("Compilation_AddExtensionConfig", c, "ModelName", []byte("a"), 1)
			t.Bad("Compilation_AddExtensionConfig", c, "ModelName", []byte("b"), 0)
			t.Bad("Compilation_AddExtensionConfig", c, "ModelName", nil, 1)
			t.builds(c)
			t.exists("acache_info.nncache")
		}),
	rule("s7_AddExtensionConfig_unknown", "names that the device does not know are ignored by Build").
		OK("ignored", func(t *T) {
			c := t.unbuilt()
			t.OK("Compilation_AddExtensionConfig", c, "NoSuchThing", []byte{1, 2, 3}, 3)
			t.builds(c)
		}).
		No("without_value", func(t *T) {
			c := t.unbuilt()
			t.Bad("Compilation_AddExtensionConfig", c, "NoSuchThing", []byte{1}, 0)
			t.Bad("Compilation_AddExtensionConfig", c, "NoSuchThing", nil, 1)
			t.builds(c)
		}),
	rule("s7_AddExtensionConfig_known", "NPU_FM_SHARED and isExceedRamLimit are known; Build overwrites the latter, so "+
		"that the cache says 0").
		OK("overwritten", func(t *T) {
			c := t.withCache(t.unbuilt(), t.Dir, 1)
			t.OK("Compilation_AddExtensionConfig", c, "isExceedRamLimit", []byte("1"), 1)
			t.OK("Compilation_AddExtensionConfig", c, "NPU_FM_SHARED", []byte{0}, 1)
			t.builds(c)
			t.Check(number(t.info()["isExceedRamLimit"]) == "0", "isExceedRamLimit is %v", t.info()["isExceedRamLimit"])
		}).
		No("size_0", func(t *T) {
			c := t.unbuilt()
			t.Bad("Compilation_AddExtensionConfig", c, "isExceedRamLimit", []byte("1"), 0)
			t.Bad("Compilation_AddExtensionConfig", c, "NPU_FM_SHARED", []byte("1"), 0)
		}),
	setter(rule("s7_SetDevice", "takes any id, which Build judges; a NULL compilation is INVALID"),
		"Compilation_SetDevice", 0, 12345, hugeSize),
	rule("s7_SetDevice_build", "an unknown id is FAILED at Build").
		OK("known", func(t *T) {
			c := t.unbuilt()
			t.OK("Compilation_SetDevice", c, t.deviceIDs()[0])
			t.builds(c)
		}).
		No("unknown", func(t *T) {
			c := t.unbuilt()
			t.OK("Compilation_SetDevice", c, t.unknownDevice())
			t.Is(failed, "Compilation_Build", c)
		}),
	rule("s7_SetCache", "takes any path and version and copies the path; NULLs are INVALID").
		OK("any", func(t *T) { t.OK("Compilation_SetCache", t.unbuilt(), "/nonexistent", 7) }).
		OK("copies", func(t *T) {
			c, path := t.unbuilt(), []byte(t.Dir+"\x00")
			t.OK("Compilation_SetCache", c, path, 1)
			copy(path, "/nonexistent/for/sure")
			t.builds(c)
		}).
		No("NULL_compilation", func(t *T) { t.Bad("Compilation_SetCache", nil, t.Dir, 1) }).
		No("NULL_path", func(t *T) { t.Bad("Compilation_SetCache", t.unbuilt(), nil, 1) }),
	setter(rule("s7_SetPerformanceMode", "takes any value before Build; a NULL compilation is INVALID"),
		"Compilation_SetPerformanceMode", 0, 4, 5, int32(-1)),
	setter(rule("s7_SetPriority", "takes any value before Build; a NULL compilation is INVALID"),
		"Compilation_SetPriority", 0, 3, 4, int32(-1)),
	setter(rule("s7_EnableFloat16", "takes any value before Build; a NULL compilation is INVALID"),
		"Compilation_EnableFloat16", true, false),
	rule("s7_Compilation_Destroy", "ends a compilation and clears the variable; NULLs are ignored; its executors keep "+
		"working").
		OK("executors_work", func(t *T) {
			c := t.built(2)
			e := t.executorOf(c)
			t.Call("Compilation_Destroy", &c)
			t.Check(c == 0, "the variable holds %#x", c)
			t.runs(e)
		}).
		OK("late_unknown_device", func(t *T) {
			c := t.Ptr("Compilation_Construct", t.model(2))
			t.OK("Compilation_Build", c)
			t.Call("Compilation_SetDevice", c, t.unknownDevice())
			t.Call("Compilation_Destroy", &c)
			t.Check(c == 0, "the variable holds %#x", c)
		}).
		No("NULLs_ignored", func(t *T) {
			v := uintptr(0)
			t.Call("Compilation_Destroy", nil)
			t.Call("Compilation_Destroy", &v)
			t.NoEffect(v != 0, "the variable holds %#x", v)
		}).
		No("other_kind", func(t *T) { t.destroysNoOther("Compilation_Destroy") }),
}
