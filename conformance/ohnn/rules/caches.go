package rules

import (
	"bytes"
	"encoding/json"
	"os"
	"path/filepath"
	"slices"

	"github.com/anynpu/anynpu/conformance/ohnn"
)

var caches = []*Rule{
	rule("s9_files", "a cache is cache_info.nncache and 0.nncache to N-1.nncache directly in the directory").
		OK("names", func(t *T) {
			t.cached(1)
			n := number(t.info()["fileNumber"])
			var got []string
			entries, err := os.ReadDir(t.Dir)
			t.Check(err == nil, "%v", err)
			for _, e := range entries {
				got = append(got, e.Name())
			}
			want := []string{infoFile}
			for i := range len(got) - 1 {
				want = append(want, number(json.Number(compact(i)))+".nncache")
			}
			slices.Sort(want)
			t.Check(slices.Equal(got, want) && n == string(compact(len(got)-1)), "files %v, fileNumber %s", got, n)
		}).
		No("nothing_compiled", func(t *T) {
			t.Bad("Compilation_Build", t.withCache(t.compilation(t.unfinished(2)), t.Dir, 1))
			entries, err := os.ReadDir(t.Dir)
			t.Check(err == nil && len(entries) == 0, "files %v", entries)
		}),
	rule("s9_info", "the info file is one compact JSON object with sorted keys and a newline: CheckSum, and data with "+
		"seven keys").
		OK("content", func(t *T) {
			t.cached(7)
			data := t.info()
			var keys []string
			for k := range data {
				keys = append(keys, k)
			}
			slices.Sort(keys)
			want := []string{"deviceId", "fileNumber", "isExceedRamLimit", "liteGraphModelId", "modelCheckSum", "opVersion",
				"version"}
			t.Check(slices.Equal(keys, want), "keys %v, want %v", keys, want)
			t.Check(number(data["version"]) == "7" && number(data["isExceedRamLimit"]) == "0", "version or isExceedRamLimit")
			id := string(compact(int64(t.deviceIDs()[0])))
			t.Check(number(data["deviceId"]) == id, "deviceId %s, want the id as a signed number, %s",
				number(data["deviceId"]),
				id)
			text := compact(data)
			whole := append(compact(map[string]any{"CheckSum": wordSum(text), "data": json.RawMessage(text)}), '\n')
			t.Check(bytes.Equal(t.read(infoFile), whole), "the file is %q, want %q", t.read(infoFile), whole)
		}).
		No("CheckSum_missing", func(t *T) {
			t.cached(5)
			t.write(infoFile, append(compact(map[string]any{"data": t.info()}), '\n'))
			t.Bad("Compilation_Build", t.withCache(t.forCache(), t.Dir, 5))
		}).
		No("data_missing", func(t *T) {
			t.cached(5)
			t.write(infoFile, append(compact(map[string]any{"CheckSum": wordSum([]byte("null"))}), '\n'))
			t.Bad("Compilation_Build", t.withCache(t.forCache(), t.Dir, 5))
		}),
	rule("s9_checksum", "modelCheckSum has the checksum of each data file").
		OK("right", func(t *T) {
			t.cached(1)
			sums, _ := t.info()["modelCheckSum"].([]any)
			for i, s := range sums {
				want := string(compact(wordSum(t.read(string(compact(i)) + ".nncache"))))
				t.Check(number(s) == want, "file %d: checksum %v, want %s", i, s, want)
			}
		}).
		No("changed_file", func(t *T) {
			t.cached(5)
			b := t.read("1.nncache")
			b[0]++
			t.write("1.nncache", b)
			t.Bad("Compilation_Build", t.withCache(t.forCache(), t.Dir, 5))
		}),
	rule("s9_checksum_sampled", "of a data file of 2 MiB and more a sample of the words counts, and then its last byte").
		OK("3_MiB", func(t *T) {
			m := t.largeModel(800_000)
			t.OK("Compilation_Build", t.withCache(t.compilation(m), t.Dir, 1))
			sums, _ := t.info()["modelCheckSum"].([]any)
			b := t.read("0.nncache")
			want := string(compact(sampledSum(b)))
			t.Check(len(b) > 2<<20 && number(sums[0]) == want, "%d bytes: checksum %v, want %s", len(b), sums[0], want)
			t.OK("Compilation_Build", t.withCache(t.forCache(), t.Dir, 1))
		}).
		No("last_byte", func(t *T) {
			t.OK("Compilation_Build", t.withCache(t.compilation(t.largeModel(800_000)), t.Dir, 1))
			b := t.read("0.nncache")
			b[len(b)-1]++
			t.write("0.nncache", b)
			t.Bad("Compilation_Build", t.withCache(t.forCache(), t.Dir, 1))
		}),
	rule("s9_descriptors", "the last two files hold the descriptors of inputs and of outputs").
		OK("content", func(t *T) {
			t.cached(1)
			sums, _ := t.info()["modelCheckSum"].([]any)
			n := len(sums)
			t.Check(n >= 3, "%d data files, want at least 3", n)
			in, inNames := t.descriptorBlob(string(compact(n-2)) + ".nncache")
			out, outNames := t.descriptorBlob(string(compact(n-1)) + ".nncache")
			t.Check(len(in) == 2 && slices.Equal(in[1], []int32{2}) && inNames[1] == "Tensor: 1", "inputs %v %v", in, inNames)
			t.Check(len(out) == 1 && slices.Equal(out[0], []int32{2}) && outNames[0] == "Tensor: 2", "outputs %v %v", out,
				outNames)
		}).
		No("cut_off", func(t *T) {
			t.cached(5)
			sums, _ := t.info()["modelCheckSum"].([]any)
			t.replace(len(sums)-2, func(b []byte) []byte { return b[:len(b)-9] })
			t.Bad("Compilation_Build", t.withCache(t.forCache(), t.Dir, 5))
		}).
		No("rank_without_dimensions", func(t *T) {
			t.cached(5)
			sums, _ := t.info()["modelCheckSum"].([]any)
			t.replace(len(sums)-1, func(b []byte) []byte { b[12]++; return b })
			t.Bad("Compilation_Build", t.withCache(t.forCache(), t.Dir, 5))
		}),
	rule("s9_model_name", "the extension configuration ModelName begins the names of the files").
		OK("prefix", func(t *T) {
			c := t.withCache(t.unbuilt(), t.Dir, 1)
			t.OK("Compilation_AddExtensionConfig", c, "ModelName", []byte("net_"), 4)
			t.builds(c)
			t.exists("net_cache_info.nncache", "net_0.nncache")
		}).
		No("another_name", func(t *T) {
			c := t.withCache(t.unbuilt(), t.Dir, 1)
			t.OK("Compilation_AddExtensionConfig", c, "ModelName", []byte("net_"), 4)
			t.builds(c)
			t.Bad("Compilation_Build", t.withCache(t.forCache(), t.Dir, 1))
			c = t.withCache(t.forCache(), t.Dir, 1)
			t.OK("Compilation_AddExtensionConfig", c, "ModelName", []byte("nut_"), 4)
			t.Bad("Compilation_Build", c)
		}),
	rule("s9_model_name_of_a_folder", "a ModelName is no path: nothing is written beside the cache's folder").
		OK("dots", func(t *T) {
			c := t.withCache(t.unbuilt(), t.Dir, 1)
			t.OK("Compilation_AddExtensionConfig", c, "ModelName", []byte("..net"), 5)
			t.builds(c)
			t.exists("..netcache_info.nncache")
		}).
		No("separators", func(t *T) {
			t.Check(os.Mkdir(t.Dir+"/cache", 0o755) == nil, "mkdir")
			for _, name := range []string{"../", "a/b", "/tmp/x", "/"} {
				c := t.withCache(t.unbuilt(), t.Dir+"/cache", 1)
				t.OK("Compilation_AddExtensionConfig", c, "ModelName", []byte(name), len(name))
				t.Bad("Compilation_Build", c)
			}
			for _, folder := range []string{t.Dir, t.Dir + "/cache"} {
				entries, err := os.ReadDir(folder)
				t.Check(err == nil && len(entries) == map[bool]int{true: 1}[folder == t.Dir], "%s has %v", folder, entries)
			}
		}),
	rule("s9_directory", "the directory must exist; it may be relative and have doubled slashes; nothing is created on "+
		"the way").
		OK("relative", func(t *T) {
			old, err := os.Getwd()
			t.Check(err == nil && os.Chdir(t.Dir) == nil && os.Mkdir("sub", 0o755) == nil, "chdir: %v", err)
			t.Later(func() { _ = os.Chdir(old) })
			t.builds(t.withCache(t.unbuilt(), "./sub//", 1))
			t.exists("sub/" + infoFile)
		}).
		OK("link", func(t *T) {
			t.Check(os.Mkdir(t.Dir+"/real", 0o755) == nil && os.Symlink("real", t.Dir+"/link") == nil, "mkdir, symlink")
			t.builds(t.withCache(t.unbuilt(), t.Dir+"/link", 1))
			t.exists("real/" + infoFile)
		}).
		No("missing", func(t *T) {
			t.Bad("Compilation_Build", t.withCache(t.unbuilt(), t.Dir+"/missing/deeper", 1))
			_, err := os.Stat(t.Dir + "/missing")
			t.Check(os.IsNotExist(err), "the directory was created")
		}).
		No("a_file", func(t *T) {
			t.write("file", []byte("x"))
			t.Bad("Compilation_Build", t.withCache(t.unbuilt(), t.Dir+"/file", 1))
		}),
	rule("s9_directory_empty", "an empty path turns caching off").
		OK("off", func(t *T) { t.builds(t.withCache(t.unbuilt(), "", 4294967295)) }).
		No("for_cache", func(t *T) { t.Bad("Compilation_Build", t.withCache(t.forCache(), "", 1)) }),
	rule("s9_version_equal", "the same version restores and writes nothing").
		OK("restores", func(t *T) {
			t.cached(3)
			before, err := os.Stat(filepath.Join(t.Dir, infoFile))
			t.Check(err == nil, "%v", err)
			t.cached(3)
			after, err := os.Stat(filepath.Join(t.Dir, infoFile))
			t.Check(err == nil && os.SameFile(before, after) && before.ModTime().Equal(after.ModTime()),
				"the cache was written again")
		}).
		No("for_cache_needs_it", func(t *T) {
			t.cached(3)
			t.Bad("Compilation_Build", t.withCache(t.forCache(), t.Dir, 4))
		}),
	rule("s9_version_higher", "a higher version in the call rebuilds and overwrites").
		OK("overwrites", func(t *T) {
			t.cached(3)
			t.cached(4)
			t.Check(number(t.info()["version"]) == "4", "version %v, want 4", t.info()["version"])
		}).
		No("for_cache", func(t *T) {
			t.cached(3)
			t.Bad("Compilation_Build", t.withCache(t.forCache(), t.Dir, 4))
		}),
	rule("s9_version_lower", "a lower version in the call is FORBIDDEN").
		OK("not_lower", func(t *T) { t.cached(0); t.cached(1) }).
		No("lower", func(t *T) {
			t.cached(3)
			t.Is(forbid, "Compilation_Build", t.withCache(t.unbuilt(), t.Dir, 2))
			t.Is(forbid, "Compilation_Build", t.withCache(t.forCache(), t.Dir, 2))
			t.builds(t.withCache(t.forCache(), t.Dir, 3))
		}),
	rule("s9_version_of_damaged", "the version counts only when the rest of the info file is good").
		OK("damaged_and_newer", func(t *T) {
			t.cached(9)
			t.write("0.nncache", nil)
			t.builds(t.withCache(t.unbuilt(), t.Dir, 2))
			t.Check(number(t.info()["version"]) == "2", "version %v, want 2", t.info()["version"])
		}).
		No("good_and_newer", func(t *T) {
			t.cached(9)
			t.Is(forbid, "Compilation_Build", t.withCache(t.unbuilt(), t.Dir, 2))
		}),
	rule("s9_version_range", "4294967294 is the highest version; 4294967295 is INVALID").
		OK("highest", func(t *T) {
			t.cached(4294967294)
			t.builds(t.withCache(t.forCache(), t.Dir, 4294967294))
		}).
		No("reserved", func(t *T) { t.Bad("Compilation_Build", t.withCache(t.unbuilt(), t.Dir, 4294967295)) }),
	each(rule("s9_bad_info", "an info file that is unreadable, no JSON, lacks a key or has a wrong checksum is replaced "+
		"by a normal build; without a model it is INVALID").
		OK("good", restored), map[string]func(*T){
		"empty":    func(t *T) { t.write(infoFile, nil) },
		"not_JSON": func(t *T) { t.write(infoFile, []byte("{\"CheckSum\":")) },
		"array":    func(t *T) { t.write(infoFile, []byte("[1,2,3]\n")) },
		"checksum": func(t *T) {
			t.write(infoFile, bytes.Replace(t.read(infoFile), []byte(`"CheckSum":`), []byte(`"CheckSum":1`), 1))
		},
		"no_version":     without("version"),
		"no_deviceId":    without("deviceId"),
		"no_fileNumber":  without("fileNumber"),
		"no_sums":        without("modelCheckSum"),
		"no_limit":       without("isExceedRamLimit"),
		"version_string": with("version", "5"),
		"sums_number":    with("modelCheckSum", 7),
		"device_list":    with("deviceId", []int{1}),
	}),
	each(rule("s9_bad_file_number", "a fileNumber outside 1 to 100, and one too small for the two descriptor files, is "+
		"a bad cache").
		OK("good", restored), map[string]func(*T){
		"0": with("fileNumber", 0), "minus_1": with("fileNumber", -1), "1": with("fileNumber", 1), "2": with("fileNumber",
			2),
		"101": with("fileNumber", 101), "4_billion": with("fileNumber", 1<<32),
	}),
	each(rule("s9_bad_device", "a cache of another device is a bad cache").
		OK("good", restored), map[string]func(*T){"other": with("deviceId", 4711)}),
	each(rule("s9_bad_data", "a data file that is missing, empty or changed is a bad cache").
		OK("good", restored), map[string]func(*T){
		"missing": func(t *T) { t.Check(os.Remove(filepath.Join(t.Dir, "0.nncache")) == nil, "remove") },
		"empty":   func(t *T) { t.write("1.nncache", nil) },
		"changed": func(t *T) {
			b := t.read("0.nncache")
			b[len(b)/2] ^= 0x10
			t.write("0.nncache", b)
		},
		"longer": func(t *T) { t.write("0.nncache", append(t.read("0.nncache"), 1, 2)) },
	}),
	rule("s9_tolerance", "a missing opVersion and a liteGraphModelId that is no number are let through").
		OK("no_opVersion", func(t *T) {
			t.cached(5)
			without("opVersion")(t)
			t.builds(t.withCache(t.forCache(), t.Dir, 5))
		}).
		OK("liteGraphModelId_string", func(t *T) {
			t.cached(5)
			with("liteGraphModelId", "x")(t)
			t.builds(t.withCache(t.forCache(), t.Dir, 5))
		}).
		No("other_opVersion", func(t *T) {
			t.cached(5)
			t.rewrite(func(data map[string]any) { data["opVersion"] = json.Number(number(data["opVersion"]) + "1") })
			t.Bad("Compilation_Build", t.withCache(t.forCache(), t.Dir, 5))
		}),
	rule("s9_bad_cache_replaced", "a cache that does not fit is replaced by a build with a model; without one nothing "+
		"is put in its place").
		OK("replaced", func(t *T) {
			t.cached(5)
			t.write("0.nncache", []byte("other"))
			t.cached(5)
			t.Check(string(t.read("0.nncache")) != "other", "the bad file is still there")
		}).
		No("not_replaced", func(t *T) {
			t.cached(5)
			t.write("0.nncache", []byte("other"))
			t.Bad("Compilation_Build", t.withCache(t.forCache(), t.Dir, 5))
			t.Check(string(t.read("0.nncache")) == "other", "the file was written")
		}),
	rule("s9_no_cache", "without an info file Build compiles; a compilation of the cache alone is INVALID").
		OK("compiles", func(t *T) { t.cached(1) }).
		No("for_cache", func(t *T) { t.Bad("Compilation_Build", t.withCache(t.forCache(), t.Dir, 1)) }),
	rule("s9_scalar", "the reference implementation cannot cache scalar inputs and outputs: MEMORY_ERROR, with the "+
		"model compiled").
		OK("vector", func(t *T) { t.cached(1) }).
		OK("scalar", func(t *T) {
			t.OK("Compilation_Build", t.withCache(t.compilation(t.model()), t.Dir, 1))
			c := t.withCache(t.forCache(), t.Dir, 1)
			t.OK("Compilation_Build", c)
			t.executorOf(c)
		}).In(ohnn.Manual).
		No("scalar", func(t *T) {
			c := t.withCache(t.compilation(t.model()), t.Dir, 1)
			t.Is(memError, "Compilation_Build", c)
			t.executorOf(c)
		}).In(ohnn.Reference).
		No("missing_directory", func(t *T) {
			c := t.withCache(t.compilation(t.model()), t.Dir+"/missing", 1)
			t.Is(t.by(invalid, memError), "Compilation_Build", c)
			t.executorOf(c)
		}),
	rule("s9_other_model", "a cache that was made of another model is never used for this one").
		OK("rebuilt", func(t *T) {
			m := t.openModel(2)
			t.OK("Model_AddOperation", m, 22, &ohnn.Array{}, ohnn.List(0, 1), ohnn.List(2)) // MUL
			t.OK("Model_SpecifyInputsAndOutputs", m, ohnn.List(0, 1), ohnn.List(2))
			t.OK("Model_Finish", m)
			t.OK("Compilation_Build", t.withCache(t.compilation(m), t.Dir, 1))
			t.cached(1)
		}).
		No("newer_all_the_same", func(t *T) {
			m := t.additionOf(3, 3, 3)
			t.OK("Compilation_Build", t.withCache(t.compilation(m), t.Dir, 9))
			t.Is(forbid, "Compilation_Build", t.withCache(t.unbuilt(), t.Dir, 1))
		}),
	rule("s9_other_settings", "float16, performance and priority do not make a cache unusable for good: it is restored "+
		"or replaced").
		OK("replaced", func(t *T) {
			t.cached(5)
			c := t.withCache(t.unbuilt(), t.Dir, 5)
			t.OK("Compilation_SetPriority", c, 3)
			t.OK("Compilation_SetPerformanceMode", c, 4)
			t.OK("Compilation_EnableFloat16", c, true)
			t.builds(c)
		}).
		No("out_of_range", func(t *T) {
			t.cached(5)
			c := t.withCache(t.unbuilt(), t.Dir, 5)
			t.OK("Compilation_SetPriority", c, 4)
			t.Bad("Compilation_Build", c)
			t.builds(t.withCache(t.forCache(), t.Dir, 5))
		}),
}
