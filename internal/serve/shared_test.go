package serve

import (
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"google.golang.org/protobuf/encoding/protowire"

	"github.com/anynpu/anynpu/core/tensor"
	"github.com/anynpu/anynpu/internal/oip"
	"github.com/anynpu/anynpu/internal/serve/queue"
)

func offers(c *Config, _ *queue.Config) { c.Shared = true }

// memory is a file of shared memory with these bytes; its key.
func memory(t testing.TB, b []byte) (path, key string) {
	f, err := os.CreateTemp("/dev/shm", "anynpu-serve-test-")
	require.NoError(t, err)
	t.Cleanup(func() { os.Remove(f.Name()) })
	_, err = f.Write(b)
	require.NoError(t, err)
	require.NoError(t, f.Close())
	return f.Name(), "/" + filepath.Base(f.Name())
}

// region is the message that registers a region.
func region(name, key string, offset, size uint64) []byte {
	b := appendText(appendText(nil, 1, name), 2, key)
	b = protowire.AppendVarint(protowire.AppendTag(b, 3, protowire.VarintType), offset)
	return protowire.AppendVarint(protowire.AppendTag(b, 4, protowire.VarintType), size)
}

// place are the parameters of a tensor in a region.
func place(name string, offset, size int64) oip.Parameters {
	return oip.Parameters{oip.SharedMemoryRegion: name, oip.SharedMemoryOffset: offset, oip.SharedMemoryByteSize: size}
}

func TestShared_gRPC(t *testing.T) {
	f := begin(t, offers)
	path, key := memory(t, append(append(make([]byte, 8), tensor.Float32s(1, 2, 3, 4)...), make([]byte, 16)...))
	_, code, text := f.call(sharedRegister, region("r", key, 8, 32))
	require.Equal(t, oip.OK, code, text)
	_, code, text = f.call(sharedRegister, region("r", key, 8, 32))
	assert.Equal(t, oip.AlreadyExists, code, text)

	q := request("double", 1, 2, 3, 4)
	q.Inputs[0].Raw, q.Inputs[0].Parameters = nil, place("r", 0, 16)
	q.Outputs = []oip.Requested{{Name: "y", Parameters: place("r", 16, 16)}}
	b, code, text := f.call(oip.ModelInfer, encoded(q))
	require.Equal(t, oip.OK, code, text)
	a, err := oip.ParseResponse(b)
	require.NoError(t, err)
	require.Len(t, a.Outputs, 1)
	assert.Nil(t, a.Outputs[0].Raw)
	assert.Equal(t, place("r", 16, 16), a.Outputs[0].Parameters)
	assert.Equal(t, []int64{2, 2}, a.Outputs[0].Shape)
	all, err := os.ReadFile(path)
	require.NoError(t, err)
	assert.Equal(t, append(append(make([]byte, 8), tensor.Float32s(1, 2, 3, 4)...), tensor.Float32s(2, 4, 6, 8)...), all)

	b, code, _ = f.call(sharedStatus, nil)
	assert.Equal(t, oip.OK, code)
	assert.Contains(t, string(b), key)
	for name, change := range map[string]func(q *oip.Request){
		"16 bytes at 17":         func(q *oip.Request) { q.Inputs[0].Parameters = place("r", 17, 16) },
		"unable to find":         func(q *oip.Request) { q.Inputs[0].Parameters = place("other", 0, 16) },
		"has room for 12":        func(q *oip.Request) { q.Outputs[0].Parameters = place("r", 16, 12) },
		"Expected 16, got 12":    func(q *oip.Request) { q.Inputs[0].Parameters = place("r", 0, 12) },
		"shared memory wants":    func(q *oip.Request) { q.Inputs[0].Parameters = place("r", -1, 16) },
		"and in shared memory":   func(q *oip.Request) { q.Inputs[0].Raw = make([]byte, 16) },
		"9223372036854775807 by": func(q *oip.Request) { q.Outputs[0].Parameters = place("r", 1, 1<<63-1) },
	} {
		q := request("double", 1, 2, 3, 4)
		q.Inputs[0].Raw, q.Inputs[0].Parameters = nil, place("r", 0, 16)
		q.Outputs = []oip.Requested{{Name: "y", Parameters: place("r", 16, 16)}}
		change(q)
		_, code, text := f.call(oip.ModelInfer, encoded(q))
		assert.Contains(t, []oip.Code{oip.InvalidArgument, oip.NotFound}, code, name)
		assert.Contains(t, text, name)
	}

	require.NoError(t, os.Truncate(path, 0)) // what its owner has cut is no crash
	_, code, text = f.call(oip.ModelInfer, encoded(q))
	assert.Equal(t, oip.InvalidArgument, code)
	assert.Contains(t, text, "shorter than when it was registered")

	_, code, _ = f.call(sharedUnregister, nil)
	assert.Equal(t, oip.OK, code)
	_, code, _ = f.call(sharedStatus, appendText(nil, 1, "r"))
	assert.Equal(t, oip.NotFound, code)
}

func TestShared_REST(t *testing.T) {
	f := begin(t, offers)
	path, key := memory(t, append(tensor.Float32s(1, 2), make([]byte, 8)...))
	at := "/v2/systemsharedmemory/region/r/"
	status, _, text := f.send("POST", at+"register", fmt.Sprintf(`{"key":%q,"byte_size":16}`, key))
	require.Equal(t, 200, status, text)
	status, _, text = f.send("POST", "/v2/models/double/infer", `{"inputs":[{"name":"x","shape":[1,2],"datatype":"FP32",
		"parameters":{"shared_memory_region":"r","shared_memory_byte_size":8}}],"outputs":[{"name":"y","parameters":
		{"shared_memory_region":"r","shared_memory_byte_size":8,"shared_memory_offset":8}}]}`)
	assert.Equal(t, 200, status, text)
	assert.JSONEq(t, `{"model_name":"double","model_version":"1","outputs":[{"name":"y","shape":[1,2],"datatype":"FP32",
		"parameters":{"shared_memory_region":"r","shared_memory_byte_size":8,"shared_memory_offset":8}}]}`, text)
	all, err := os.ReadFile(path)
	require.NoError(t, err)
	assert.Equal(t, tensor.Float32s(1, 2, 2, 4), all)
	status, _, text = f.send("GET", at+"status", "")
	assert.Equal(t, 200, status)
	var list []map[string]any
	require.NoError(t, json.Unmarshal([]byte(text), &list))
	assert.Equal(t, []map[string]any{{"name": "r", "key": key, "offset": 0., "byte_size": 16.}}, list)
	status, _, _ = f.send("POST", at+"unregister", "")
	assert.Equal(t, 200, status)
	status, _, text = f.send("GET", at+"status", "")
	assert.Equal(t, 400, status)
	assert.Contains(t, text, "unable to find")
	for name, body := range map[string]string{
		"unable to open":   `{"key":"/anynpu-no-such-memory","byte_size":1}`,
		"has not 17 bytes": fmt.Sprintf(`{"key":%q,"byte_size":17}`, key),
		"as shm_open":      `{"key":"/../../etc/passwd","byte_size":1}`,
		"0 bytes at 0":     fmt.Sprintf(`{"key":%q,"byte_size":0}`, key),
		"byte_size is":     fmt.Sprintf(`{"key":%q}`, key),
		"is not the JSON":  `{"key":1}`,
	} {
		status, _, text := f.send("POST", at+"register", body)
		assert.Equal(t, 400, status, text)
		assert.Contains(t, text, name)
	}
}

// TestShared_notOffered: without the setting the server opens no files.
func TestShared_notOffered(t *testing.T) {
	f := begin(t, nil)
	_, key := memory(t, make([]byte, 16))
	for _, method := range []string{sharedRegister, sharedUnregister, sharedStatus} {
		_, code, text := f.call(method, region("r", key, 0, 16))
		assert.Equal(t, oip.PermissionDenied, code)
		assert.Contains(t, text, "--shared-memory")
	}
	q := request("double", 1, 2)
	q.Inputs[0].Raw, q.Inputs[0].Parameters = nil, place("r", 0, 8)
	_, code, _ := f.call(oip.ModelInfer, encoded(q))
	assert.Equal(t, oip.PermissionDenied, code)
}
