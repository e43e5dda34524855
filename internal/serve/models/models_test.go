package models

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/anynpu/anynpu/core/device"
	"github.com/anynpu/anynpu/core/fault"
	"github.com/anynpu/anynpu/core/mem"
	"github.com/anynpu/anynpu/core/tensor"
	"github.com/anynpu/anynpu/internal/leak"
	"github.com/anynpu/anynpu/internal/serve/queue"
	"github.com/anynpu/anynpu/internal/serve/servetest"
)

func TestMain(m *testing.M) { os.Exit(leak.Run(m, mem.LiveCounters)) }

// folder is a repository over files with the given paths; what it logs goes to log, and programs that it opened to all.
type folder struct {
	*Repository
	dir string
	log []string
	all []*servetest.Program
	bad bool // no file can be loaded
}

func open(t *testing.T, paths ...string) *folder {
	f := &folder{dir: t.TempDir()}
	f.write(t, paths...)
	f.Repository = New(Config{Dir: f.dir, Queue: queue.Config{Limit: 1, Instances: 1},
		Log:   func(text string) { f.log = append(f.log, strings.ReplaceAll(text, f.dir+"/", "")) },
		Known: func(path string) bool { return strings.HasSuffix(path, ".onnx") || strings.HasSuffix(path, ".rknn") },
		Open: func(_ context.Context, path string) (device.Program, error) {
			port := servetest.Port(strings.TrimPrefix(path, f.dir+"/"), 1)
			if f.bad {
				return nil, fault.New(fault.File, "damaged")
			}
			if strings.Contains(path, "odd") {
				port.Type.DType = tensor.Int4
			}
			p := servetest.New([]device.Port{port}, []device.Port{port}, servetest.Double)
			f.all = append(f.all, p)
			return p, nil
		}})
	t.Cleanup(func() {
		f.Close(context.Background())
		for _, p := range f.all {
			refs, executions := p.Live()
			assert.Zero(t, refs)
			assert.Zero(t, executions)
		}
	})
	return f
}

func (f *folder) write(t *testing.T, paths ...string) {
	for _, p := range paths {
		require.NoError(t, os.MkdirAll(filepath.Join(f.dir, filepath.Dir(p)), 0o700))
		require.NoError(t, os.WriteFile(filepath.Join(f.dir, p), nil, 0o600))
	}
}

// loaded lists what is loaded as NAME/VERSION=FILE.
func (f *folder) loaded() (list []string) {
	f.Each(func(v *Version) { list = append(list, fmt.Sprintf("%s/%d=%s", v.Name, v.Number, v.In[0].Name)) })
	return list
}

func TestFolder_namesAndVersions(t *testing.T) {
	f := open(t, "a.onnx", "b.v2.onnx", "c.rknn", "notes.txt", "d/1/model.onnx", "d/1/labels.txt", "d/10/m.rknn",
		"d/2/x.onnx",
		"d/01/model.onnx", "d/0/model.onnx", "d/v3/model.onnx", "d/4/labels.txt", "d/config.pbtxt", ".hidden/1/model.onnx",
		"a.rknn", "e/1/one.onnx", "e/1/two.onnx", "odd.onnx")
	require.NoError(t, os.Symlink("a.onnx", filepath.Join(f.dir, "link.onnx")))
	require.NoError(t, os.Symlink("nowhere", filepath.Join(f.dir, "lost.onnx")))
	loaded, all, err := f.LoadAll(context.Background())
	require.NoError(t, err)
	assert.Equal(t, [2]int{8, 9}, [2]int{loaded, all})
	assert.Equal(t, []string{"a/1=a.onnx", "b.v2/1=b.v2.onnx", "c/1=c.rknn", "d/1=d/1/model.onnx", "d/2=d/2/x.onnx",
		"d/10=d/10/m.rknn", "e/1=e/1/one.onnx", "link/1=link.onnx"}, f.loaded())
	log := strings.Join(f.log, "\n")
	assert.Contains(t, log, "a.rknn is left out: ")
	assert.Contains(t, log, "e/1/two.onnx is left out: ")
	assert.Contains(t, log, `model odd version 1 is not loaded: input "odd.onnx" is int4`)
	assert.Equal(t, []string{"1", "2", "10"}, f.Versions("d"))
	v, err := f.Find("d", "")
	require.NoError(t, err)
	assert.Equal(t, 10, v.Number, "the highest one is the default")
	for _, version := range []string{"3", "01", "0", "-1", "x", "10 "} {
		_, err := f.Find("d", version)
		assert.ErrorIs(t, err, ErrUnknown, version)
	}
	_, err = f.Find("odd", "")
	assert.ErrorIs(t, err, ErrNotReady)
	assert.ErrorContains(t, err, "int4")
	index, err := f.Index()
	require.NoError(t, err)
	assert.Len(t, index, 9)
}

func TestLoad_keepsWhatComputesWhenTheNewFileIsDamaged(t *testing.T) {
	f := open(t, "a.onnx")
	require.NoError(t, f.Load(context.Background(), "a"))
	first, err := f.Find("a", "")
	require.NoError(t, err)
	f.bad = true
	assert.ErrorContains(t, f.Load(context.Background(), "a"), "damaged")
	still, err := f.Find("a", "")
	require.NoError(t, err)
	assert.Same(t, first, still)
	index, err := f.Index()
	require.NoError(t, err)
	assert.Equal(t, []Entry{{"a", "1", Ready, "the file of now cannot be loaded: damaged"}}, index)
	f.bad = false
	require.NoError(t, f.Load(context.Background(), "a"))
	now, err := f.Find("a", "")
	require.NoError(t, err)
	assert.NotSame(t, first, now)
	for err == nil { // it is closed meanwhile
		_, err = first.Do(context.Background(), []tensor.Tensor{servetest.Floats([]int64{1}, 1)})
	}
	assert.ErrorIs(t, err, queue.ErrClosed)
	assert.ErrorIs(t, f.Load(context.Background(), "b"), ErrUnknown)
	assert.ErrorIs(t, f.Load(context.Background(), "../a"), ErrUnknown)
	assert.ErrorIs(t, f.Unload("b"), ErrUnknown)
}

func TestIndex_ofAFolderThatIsGone(t *testing.T) {
	f := open(t, "a.onnx")
	require.NoError(t, os.RemoveAll(f.dir))
	_, err := f.Index()
	assert.Equal(t, fault.File, fault.KindOf(err))
	_, _, err = f.LoadAll(context.Background())
	assert.Equal(t, fault.File, fault.KindOf(err))
}
