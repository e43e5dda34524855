package networks

import (
	"encoding/binary"
	"math"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"google.golang.org/protobuf/encoding/protowire"

	"github.com/anynpu/anynpu/backends/cpu"
	"github.com/anynpu/anynpu/core/device"
	"github.com/anynpu/anynpu/core/mem"
)

// message is a protobuf message under construction (onnx.proto gives the field numbers).
type message []byte

func (m *message) bytes(field protowire.Number, b []byte) {
	*m = protowire.AppendBytes(protowire.AppendTag(*m, field, protowire.BytesType), b)
}

func (m *message) int(field protowire.Number, v int64) {
	*m = protowire.AppendVarint(protowire.AppendTag(*m, field, protowire.VarintType), uint64(v))
}

// network is an ONNX graph under construction.
type network struct {
	graph message
	rnd   *rand.Rand
}

func (n *network) weights(name string, dims ...int64) string {
	var t message
	count := int64(1)
	for _, d := range dims {
		t.int(1, d)
		count *= d
	}
	t.int(2, 1) // float
	t.bytes(8, []byte(name))
	raw := make([]byte, 0, 4*count)
	for range count {
		raw = binary.LittleEndian.AppendUint32(raw, math.Float32bits(n.rnd.Float32()*0.05-0.025))
	}
	t.bytes(9, raw)
	n.graph.bytes(5, t)
	return name
}

func (n *network) node(kind, out string, attrs map[string][]int64, in ...string) {
	var m message
	for _, x := range in {
		m.bytes(1, []byte(x))
	}
	m.bytes(2, []byte(out))
	m.bytes(4, []byte(kind))
	for name, v := range attrs {
		var a message
		a.bytes(1, []byte(name))
		for _, x := range v {
			a.int(8, x)
		}
		a.int(20, 7) // integers
		m.bytes(5, a)
	}
	n.graph.bytes(1, m)
}

func (n *network) port(field protowire.Number, name string, dims ...int64) {
	var shape, tensorType, typ, info message
	for _, d := range dims {
		var dim message
		dim.int(1, d)
		shape.bytes(1, dim)
	}
	tensorType.int(1, 1)
	tensorType.bytes(2, shape)
	typ.bytes(1, tensorType)
	info.bytes(1, []byte(name))
	info.bytes(2, typ)
	n.graph.bytes(field, info)
}

func (n *network) model() []byte {
	var m, opset message
	m.int(1, 8)
	n.graph.bytes(2, []byte("g"))
	m.bytes(7, n.graph)
	opset.int(2, 17)
	m.bytes(8, opset)
	return m
}

// heavy is a network of 40 MB of weights in filters of 3x3 (with and without Winograd) and 1x1, and matrices
// of both orders.
func heavy() []byte {
	n := &network{rnd: rand.New(rand.NewPCG(5, 6))}
	pads := map[string][]int64{"pads": {1, 1, 1, 1}}
	n.port(11, "x", 1, 3, 28, 28)
	n.node("Conv", "a", pads, "x", n.weights("w0", 128, 3, 3, 3))
	n.node("Conv", "b", pads, "a", n.weights("w1", 128, 128, 3, 3))
	n.node("Conv", "c", map[string][]int64{"pads": {1, 1, 1, 1}, "strides": {4, 4}}, "b", n.weights("w2", 512, 128, 3, 3))
	n.node("Conv", "d", pads, "c", n.weights("w3", 512, 512, 3, 3))
	n.node("Relu", "e", nil, "d")
	n.node("Conv", "f", nil, "e", n.weights("w4", 2048, 512, 1, 1))
	n.node("GlobalAveragePool", "g", nil, "f")
	n.node("Flatten", "h", nil, "g")
	n.node("MatMul", "i", nil, "h", n.weights("w5", 2048, 2048))
	n.node("Relu", "j", nil, "i")
	n.node("Gemm", "k", nil, "j", n.weights("w6", 2048, 768))
	n.node("Softmax", "y", nil, "k")
	n.port(12, "y", 1, 768)
	return n.model()
}

const memoryModel = "ANYNPU_TEST_MODEL"

// TestMemory_isThatOfTheFile loads and runs 40 MB of weights in a process of its own: the peak before the first run is
// less than 1.3 times the file.
func TestMemory_isThatOfTheFile(t *testing.T) {
	if path := os.Getenv(memoryModel); path != "" {
		require.NoError(t, Memory(os.Stdout, path, false, func() (device.Device, error) { return cpu.New(cpu.Config{}) }))
		return
	}
	if mem.Guarded() {
		t.Skip("guard mode adds pages to every constant")
	}
	if raceEnabled {
		t.Skip("the race detector needs memory of its own")
	}
	path := filepath.Join(t.TempDir(), "heavy.onnx")
	model := heavy()
	require.InDelta(t, 40e6, len(model), 4e6)
	require.NoError(t, os.WriteFile(path, model, 0o600))
	c := exec.Command(os.Args[0], "-test.run=^TestMemory_isThatOfTheFile$", "-test.v")
	c.Env = append(os.Environ(), memoryModel+"="+path)
	out, err := c.CombinedOutput()
	assert.NoError(t, err, "%s", out)
	t.Logf("%s", out)
}
