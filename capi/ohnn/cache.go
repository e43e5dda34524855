package ohnn

import (
	"bytes"
	"errors"
	"fmt"
	"path/filepath"
	"slices"
	"strings"
	"sync"

	"github.com/anynpu/anynpu/core/cache"
	"github.com/anynpu/anynpu/core/fault"
)

// A cache (section 9) is an info file and three data files directly in the program's directory: the stored form of the
// compiled model, then the descriptors of inputs and of outputs. Besides what the reference implementation compares,
// the model's content and the settings that the compiled form depends on must be the same; whatever does not fit is a
// miss, never used.

// maxDescriptors bounds a file of descriptors: 200 of rank 200.
const maxDescriptors = 1 << 20

// cacheStem returns the prefix of the file names.
func (c *Compilation) cacheStem() (string, error) {
	name, _, _ := strings.Cut(string(c.extensions[modelName]), "\x00")
	if strings.ContainsRune(name, filepath.Separator) {
		return "", invalid("configValue: ModelName %q: want a name without %q: it begins the names of cache "+
			"files [ohnn-config-value-model]", name,
			filepath.Separator)
	}
	return name, nil
}

// openCache reads and checks the files of a cache. The error is cache.ErrNone, or says what is wrong with it.
func openCache(dir, stem string) (cacheInfo, [][]byte, error) {
	var info cacheInfo
	files, err := cache.Read(dir, stem+infoName, func(text []byte) (v cache.Voucher, err error) {
		if info, err = decodeCacheInfo(text); err != nil {
			return v, err
		}
		for i := range info.fileNumber {
			v.Names = append(v.Names, stem+fmt.Sprintf(dataName, i))
		}
		v.Fits = func(i int, head []byte, size int64) bool {
			if i == 0 {
				return storedSize(head) == uint64(size)
			}
			return size > 0 && size <= maxDescriptors
		}
		v.Good = func(i int, b []byte) bool { return fileChecksum(b) == info.sums[i] }
		return v, nil
	})
	return info, files, err
}

// loadCache restores a compiled model; nil when there is none that fits. A newer version than the program's is
// forbidden.
func (c *Compilation) loadCache(d *npu, key modelKey) (*compiled, error) {
	stem, err := c.cacheStem()
	if err != nil {
		return nil, err
	}
	info, files, err := openCache(c.cacheDir, stem)
	if errors.Is(err, cache.ErrNone) {
		return nil, nil
	}
	miss := func(err error) (*compiled, error) {
		warn("cache not used [ohnn-cache-used]", "directory", c.cacheDir, "reason", err)
		return nil, nil
	}
	switch {
	case err != nil:
		return miss(err)
	case info.device != d.id:
		return miss(fault.New(fault.File, "it was made for another device [ohnn-made-another-device]"))
	case info.hasOp && info.op != opVersion(d):
		return miss(fault.New(fault.File, "it was made by another build of the library [ohnn-made-another-build]"))
	case info.version > c.version:
		return nil, forbidden("version: %d: the cache in %s has version %d: want that one, or another directory "+
			"[ohnn-version-cache-version]", c.version,
			c.cacheDir, info.version)
	case info.version < c.version:
		return miss(fault.New(fault.File, "it has version %d, the program wants %d "+
			"[ohnn-version-program]", info.version, c.version))
	case c.model != nil && info.hasModel && info.model != key.number():
		return miss(fault.New(fault.File, "it was made from another model or with other settings "+
			"[ohnn-made-another-model]"))
	}
	result, err := loadModel(d, files[0], c.options())
	if err != nil {
		return miss(err)
	}
	n := len(files)
	switch {
	case c.model != nil && result.key != key:
		err = fault.New(fault.File, "it was made from another model or with other settings [ohnn-made-another-model]")
	case !bytes.Equal(files[n-2], encodePorts(result.in)) || !bytes.Equal(files[n-1], encodePorts(result.out)):
		err = fault.New(fault.File, "its descriptors are not those of the compiled model "+
			"[ohnn-descriptors-those-compiled]")
	}
	if err != nil {
		result.release()
		return miss(err)
	}
	return result, nil
}

// saveCodes are the return codes of a cache that cannot be written, by the step that failed.
var saveCodes = map[cache.Step]ReturnCode{
	cache.StepDirectory: InvalidParameter,
	cache.StepOpenData:  InvalidParameter,
	cache.StepOpenIndex: InvalidFile,
	cache.StepWrite:     SaveCacheException,
}

// busyTold has the directories of which a warning has said that another process keeps them locked.
var busyTold sync.Map

// saveCache writes a compiled model in the place of the old cache; a failure leaves the old cache. A directory that
// another process keeps locked is no failure of the program's: whoever may read it could withhold every Build then.
func (c *Compilation) saveCache(result *compiled) error {
	if c.version == reservedVersion {
		return invalid("version: %d: want 0 to %d; the model is compiled and not cached "+
			"[ohnn-version-model-compiled]", c.version,
			uint32(reservedVersion-1))
	}
	stem, err := c.cacheStem()
	if err != nil {
		return err
	}
	if settings().reference && slices.ContainsFunc(slices.Concat(result.in, result.out),
		func(p port) bool { return len(p.shape) == 0 }) {
		return refuse(MemoryError, "the reference implementation caches no models with scalar inputs or outputs; the model "+
			"is compiled and not cached [ohnn-scalar-not-cached]")
	}
	blob, err := result.save()
	if err != nil {
		return refuseFor(SaveCacheException, err, "the model is compiled and not cached [ohnn-not-cached]")
	}
	info := cacheInfo{device: result.npu.id, model: result.key.number(), op: opVersion(result.npu), version: c.version}
	var data []cache.File
	for i, b := range [][]byte{blob, encodePorts(result.in), encodePorts(result.out)} {
		data = append(data, cache.File{Name: stem + fmt.Sprintf(dataName, i), Data: b})
		info.sums = append(info.sums, fileChecksum(b))
	}
	info.fileNumber = len(data)
	err = cache.Write(c.cacheDir, cache.File{Name: stem + infoName, Data: info.encode()}, data)
	if err == nil {
		return nil
	}
	if errors.Is(err, cache.ErrBusy) {
		if _, told := busyTold.LoadOrStore(c.cacheDir, true); !told {
			warn("model compiled and not cached [ohnn-cache-not-written]", "directory", c.cacheDir, "reason", err)
		}
		return nil
	}
	code := SaveCacheException
	var w *cache.WriteError
	if errors.As(err, &w) {
		code = saveCodes[w.Step]
	}
	return refuseFor(code, err, "cachePath: %q: the model is compiled and not cached "+
		"[ohnn-cache-path-model]", c.cacheDir)
}

// hasCache tells whether a complete, undamaged cache of that version is there for a device of this machine.
func hasCache(dir, name string, version uint32) bool {
	if strings.ContainsRune(name, filepath.Separator) {
		return false
	}
	info, _, err := openCache(dir, name)
	return err == nil && info.version == version && info.device != 0 && deviceByID(info.device) != nil
}
