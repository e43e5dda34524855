package rules

// setter tells that a setting of a new compilation takes any value; a NULL compilation is INVALID.
func setter(r *Rule, function string, values ...any) *Rule {
	return r.ok("any_value", func(t *T) {
		for _, v := range values {
			t.ok(function, t.unbuilt(), v)
		}
	}).no("NULL", func(t *T) { t.bad(function, nil, values[0]) })
}

// offline is an offline model file's path in the case's directory.
func (t *T) offlineFile(path any) uintptr {
	return t.object("Compilation_Destroy", t.ptr("Compilation_ConstructWithOfflineModelFile", path))
}

func (t *T) offlineBuffer(b []byte) uintptr {
	t.keep = append(t.keep, b)
	return t.object("Compilation_Destroy", t.ptr("Compilation_ConstructWithOfflineModelBuffer", b, len(b)))
}

// exported is a compiled model in a buffer. The reference exports none.
func (t *T) exported(dims ...int32) []byte {
	b, n := make([]byte, 1<<20), uint64(0)
	t.ok("Compilation_ExportCacheToBuffer", t.built(dims...), b, len(b), &n)
	return b[:n]
}

// imports makes a compilation with an imported buffer.
func (t *T) imports(c uintptr, b []byte) uintptr {
	t.keep = append(t.keep, b)
	t.ok("Compilation_ImportCacheFromBuffer", c, b, len(b))
	return c
}

var compilations = []*Rule{
	rule("s7_Construct", "makes a compilation of a model; NULL for NULL").
		ok("finished", func(t *T) { t.builds(t.unbuilt()) }).
		ok("finished_later", func(t *T) {
			m := t.unfinished(2)
			c := t.compilation(m)
			t.ok("Model_Finish", m)
			t.builds(c)
		}).
		no("NULL", func(t *T) { t.null("Compilation_Construct", nil) }),
	rule("s7_Construct_lifetime", "the program may destroy the model before Build").
		ok("destroyed", func(t *T) {
			m := t.model(2)
			c := t.compilation(m)
			t.call("Model_Destroy", &m)
			t.builds(c)
		}).
		no("destroyed_is_gone", func(t *T) {
			m := t.model(2)
			c, stale := t.compilation(m), m
			t.call("Model_Destroy", &m)
			t.null("Compilation_Construct", stale)
			t.builds(c)
		}),
	rule("s7_ConstructWithOfflineModelFile", "takes a path without opening it; NULL for NULL").
		ok("missing_file", func(t *T) { t.offlineFile("/nonexistent/model") }).
		no("NULL", func(t *T) { t.null("Compilation_ConstructWithOfflineModelFile", nil) }),
	rule("s7_ConstructWithOfflineModelBuffer", "takes a buffer without reading it; NULL for NULL and size 0").
		ok("any_content", func(t *T) { t.offlineBuffer([]byte("no model")) }).
		no("NULL", func(t *T) { t.null("Compilation_ConstructWithOfflineModelBuffer", nil, 8) }).
		no("size_0", func(t *T) { t.null("Compilation_ConstructWithOfflineModelBuffer", []byte("x"), 0) }),
	rule("s7_offline_buffer_kept", "the buffer of an offline model and of an imported cache is not copied: what it "+
		"holds at Build counts").
		ok("filled_later", func(t *T) {
			good := t.exported(2)
			b := make([]byte, len(good))
			c := t.offlineBuffer(b)
			copy(b, good)
			t.builds(c)
		}).when(Default).
		ok("taken", func(t *T) { t.imports(t.forCache(), make([]byte, 9)) }).
		no("spoilt_later", func(t *T) {
			b := []byte("no model")
			if t.Mode == Default {
				b = t.exported(2)
			}
			c, i := t.offlineBuffer(b), t.imports(t.forCache(), b)
			clear(b)
			t.is(failed, "Compilation_Build", c)
			t.is(failed, "Compilation_Build", i)
		}),
	rule("s7_offline_build", "an offline model that the device cannot read is FAILED at Build").
		ok("own_export", func(t *T) { t.builds(t.offlineBuffer(t.exported(2))) }).when(Default).
		ok("online", func(t *T) { t.builds(t.unbuilt()) }).
		no("file", func(t *T) { t.is(failed, "Compilation_Build", t.offlineFile("/nonexistent/model")) }).
		no("buffer", func(t *T) { t.is(failed, "Compilation_Build", t.offlineBuffer([]byte("no model"))) }),
	rule("s7_ConstructForCache", "makes an empty compilation, which needs a cache").
		ok("with_cache", func(t *T) {
			t.cached(1)
			c := t.forCache()
			t.ok("Compilation_SetCache", c, t.dir, 1)
			t.builds(c)
		}).
		no("without", func(t *T) { t.bad("Compilation_Build", t.forCache()) }),
	rule("s7_ExportCacheToBuffer", "NULLs and length 0 are INVALID, and so is a compilation that no Build was tried on").
		ok("after_build", func(t *T) { t.check(len(t.exported(2)) > 0, "nothing was written") }).when(Default).
		ok("by_files", func(t *T) { t.cached(1) }).
		no("after_build", func(t *T) {
			t.is(unsup, "Compilation_ExportCacheToBuffer", t.built(2), make([]byte, 1<<20), 1<<20, new(uint64))
		}).when(Reference).
		no("device_without_caches", func(t *T) {
			c := t.unbuiltOn(plainDevice)
			t.ok("Compilation_Build", c)
			t.is(unsup, "Compilation_ExportCacheToBuffer", c, make([]byte, 1<<20), 1<<20, new(uint64))
		}).
		no("NULL_compilation", func(t *T) { t.bad("Compilation_ExportCacheToBuffer", nil, make([]byte, 9), 9, new(uint64)) }).
		no("NULL_buffer", func(t *T) { t.bad("Compilation_ExportCacheToBuffer", t.built(2), nil, 9, new(uint64)) }).
		no("length_0", func(t *T) { t.bad("Compilation_ExportCacheToBuffer", t.built(2), make([]byte, 9), 0, new(uint64)) }).
		no("NULL_size", func(t *T) { t.bad("Compilation_ExportCacheToBuffer", t.built(2), make([]byte, 9), 9, nil) }).
		no("build_failed", func(t *T) {
			c := t.unbuilt()
			t.ok("Compilation_SetPriority", c, 99)
			t.bad("Compilation_Build", c)
			t.is(t.by(invalid, unsup), "Compilation_ExportCacheToBuffer", c, make([]byte, 9), 9, new(uint64))
		}).
		no("device_unknown", func(t *T) {
			c := t.unbuilt()
			t.ok("Compilation_SetDevice", c, t.unknownDevice())
			t.is(failed, "Compilation_Build", c)
			t.bad("Compilation_ExportCacheToBuffer", c, make([]byte, 9), 9, new(uint64))
		}).
		no("not_built", func(t *T) {
			t.bad("Compilation_ExportCacheToBuffer", t.unbuilt(), make([]byte, 9), 9,
				new(uint64))
		}),
	rule("s7_ImportCacheFromBuffer", "takes a buffer without reading it; NULLs and size 0 are INVALID").
		ok("any_content", func(t *T) { t.imports(t.forCache(), []byte("no cache")) }).
		no("NULL_compilation", func(t *T) { t.bad("Compilation_ImportCacheFromBuffer", nil, []byte("x"), 1) }).
		no("NULL_buffer", func(t *T) { t.bad("Compilation_ImportCacheFromBuffer", t.forCache(), nil, 1) }).
		no("size_0", func(t *T) { t.bad("Compilation_ImportCacheFromBuffer", t.forCache(), []byte("x"), 0) }),
	rule("s7_ImportCacheFromBuffer_build", "a buffer that is no cache is FAILED at Build").
		ok("own_export", func(t *T) { t.builds(t.imports(t.forCache(), t.exported(2))) }).when(Default).
		ok("by_files", func(t *T) {
			t.cached(1)
			t.builds(t.withCache(t.forCache(), t.dir, 1))
		}).
		no("garbage", func(t *T) { t.is(failed, "Compilation_Build", t.imports(t.forCache(), []byte("no cache"))) }),
	rule("s7_AddExtensionConfig", "copies a value under a name; NULLs, an empty name and size 0 are INVALID").
		ok("copies", func(t *T) {
			c, value := t.unbuilt(), []byte("name")
			t.ok("Compilation_AddExtensionConfig", c, "ModelName", value, 4)
			copy(value, "/..\x00")
			t.ok("Compilation_SetCache", c, t.dir, 1)
			t.builds(c)
			t.exists("namecache_info.nncache", "name0.nncache")
		}).
		no("NULL_compilation", func(t *T) { t.bad("Compilation_AddExtensionConfig", nil, "n", []byte("v"), 1) }).
		no("NULL_name", func(t *T) { t.bad("Compilation_AddExtensionConfig", t.unbuilt(), nil, []byte("v"), 1) }).
		no("NULL_value", func(t *T) { t.bad("Compilation_AddExtensionConfig", t.unbuilt(), "n", nil, 1) }).
		no("empty_name", func(t *T) { t.bad("Compilation_AddExtensionConfig", t.unbuilt(), "", []byte("v"), 1) }).
		no("size_0", func(t *T) { t.bad("Compilation_AddExtensionConfig", t.unbuilt(), "n", []byte("v"), 0) }),
	rule("s7_AddExtensionConfig_repeated", "a name given again appends | and the new value").
		ok("joined", func(t *T) {
			c := t.unbuilt()
			t.ok("Compilation_AddExtensionConfig", c, "ModelName", []byte("a"), 1)
			t.ok("Compilation_AddExtensionConfig", c, "ModelName", []byte("b"), 1)
			t.ok("Compilation_SetCache", c, t.dir, 1)
			t.builds(c)
			t.exists("a|bcache_info.nncache")
		}).
		no("refused_repetition", func(t *T) {
			c := t.withCache(t.unbuilt(), t.dir, 1)
			t.ok("Compilation_AddExtensionConfig", c, "ModelName", []byte("a"), 1)
			t.bad("Compilation_AddExtensionConfig", c, "ModelName", []byte("b"), 0)
			t.bad("Compilation_AddExtensionConfig", c, "ModelName", nil, 1)
			t.builds(c)
			t.exists("acache_info.nncache")
		}),
	rule("s7_AddExtensionConfig_unknown", "names that the device does not know are ignored by Build").
		ok("ignored", func(t *T) {
			c := t.unbuilt()
			t.ok("Compilation_AddExtensionConfig", c, "NoSuchThing", []byte{1, 2, 3}, 3)
			t.builds(c)
		}).
		no("without_value", func(t *T) {
			c := t.unbuilt()
			t.bad("Compilation_AddExtensionConfig", c, "NoSuchThing", []byte{1}, 0)
			t.bad("Compilation_AddExtensionConfig", c, "NoSuchThing", nil, 1)
			t.builds(c)
		}),
	rule("s7_AddExtensionConfig_known", "NPU_FM_SHARED and isExceedRamLimit are known; Build overwrites the latter, so "+
		"that the cache says 0").
		ok("overwritten", func(t *T) {
			c := t.withCache(t.unbuilt(), t.dir, 1)
			t.ok("Compilation_AddExtensionConfig", c, "isExceedRamLimit", []byte("1"), 1)
			t.ok("Compilation_AddExtensionConfig", c, "NPU_FM_SHARED", []byte{0}, 1)
			t.builds(c)
			t.check(number(t.info()["isExceedRamLimit"]) == "0", "isExceedRamLimit is %v", t.info()["isExceedRamLimit"])
		}).
		no("size_0", func(t *T) {
			c := t.unbuilt()
			t.bad("Compilation_AddExtensionConfig", c, "isExceedRamLimit", []byte("1"), 0)
			t.bad("Compilation_AddExtensionConfig", c, "NPU_FM_SHARED", []byte("1"), 0)
		}),
	setter(rule("s7_SetDevice", "takes any id, which Build judges; a NULL compilation is INVALID"),
		"Compilation_SetDevice", 0, 12345, hugeSize),
	rule("s7_SetDevice_build", "an unknown id is FAILED at Build").
		ok("known", func(t *T) {
			c := t.unbuilt()
			t.ok("Compilation_SetDevice", c, t.deviceIDs()[0])
			t.builds(c)
		}).
		no("unknown", func(t *T) {
			c := t.unbuilt()
			t.ok("Compilation_SetDevice", c, t.unknownDevice())
			t.is(failed, "Compilation_Build", c)
		}),
	rule("s7_SetCache", "takes any path and version and copies the path; NULLs are INVALID").
		ok("any", func(t *T) { t.ok("Compilation_SetCache", t.unbuilt(), "/nonexistent", 7) }).
		ok("copies", func(t *T) {
			c, path := t.unbuilt(), []byte(t.dir+"\x00")
			t.ok("Compilation_SetCache", c, path, 1)
			copy(path, "/nonexistent/for/sure")
			t.builds(c)
		}).
		no("NULL_compilation", func(t *T) { t.bad("Compilation_SetCache", nil, t.dir, 1) }).
		no("NULL_path", func(t *T) { t.bad("Compilation_SetCache", t.unbuilt(), nil, 1) }),
	setter(rule("s7_SetPerformanceMode", "takes any value before Build; a NULL compilation is INVALID"),
		"Compilation_SetPerformanceMode", 0, 4, 5, int32(-1)),
	setter(rule("s7_SetPriority", "takes any value before Build; a NULL compilation is INVALID"),
		"Compilation_SetPriority", 0, 3, 4, int32(-1)),
	setter(rule("s7_EnableFloat16", "takes any value before Build; a NULL compilation is INVALID"),
		"Compilation_EnableFloat16", true, false),
	rule("s7_Compilation_Destroy", "ends a compilation and clears the variable; NULLs are ignored; its executors keep "+
		"working").
		ok("executors_work", func(t *T) {
			c := t.built(2)
			e := t.executorOf(c)
			t.call("Compilation_Destroy", &c)
			t.check(c == 0, "the variable holds %#x", c)
			t.runs(e)
		}).
		ok("late_unknown_device", func(t *T) {
			c := t.ptr("Compilation_Construct", t.model(2))
			t.ok("Compilation_Build", c)
			t.call("Compilation_SetDevice", c, t.unknownDevice())
			t.call("Compilation_Destroy", &c)
			t.check(c == 0, "the variable holds %#x", c)
		}).
		no("NULLs_ignored", func(t *T) {
			v := uintptr(0)
			t.call("Compilation_Destroy", nil)
			t.call("Compilation_Destroy", &v)
			t.noEffect(v != 0, "the variable holds %#x", v)
		}).
		no("other_kind", func(t *T) { t.destroysNoOther("Compilation_Destroy") }),
}
