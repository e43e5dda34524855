package npy

import (
	"bytes"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/anynpu/anynpu/core/fault"
	"github.com/anynpu/anynpu/core/tensor"
)

// What NumPy 2 writes for numpy.array([[1, -2, 3]], dtype="<i2"), byte for byte.
var numpyFile = "\x93NUMPY\x01\x00\x76\x00{'descr': '<i2', 'fortran_order': False, 'shape': (1, 3), }" +
	strings.Repeat(" ", 58) + "\n\x01\x00\xfe\xff\x03\x00"

func TestRead_numpyFile(t *testing.T) {
	x, err := Read(strings.NewReader(numpyFile))
	require.NoError(t, err)
	assert.Equal(t, tensor.T(tensor.Int16, 1, 3), x.Type())
	v, err := tensor.ReadInts(x.DType, x.Data, 3)
	require.NoError(t, err)
	assert.Equal(t, []int64{1, -2, 3}, v)
}

func TestWrite_isWhatNumpyWrites(t *testing.T) {
	x, err := Read(strings.NewReader(numpyFile))
	require.NoError(t, err)
	var b bytes.Buffer
	require.NoError(t, Write(&b, x))
	assert.Equal(t, numpyFile, b.String())
}

func TestWrite_scalarVectorAndEmpty(t *testing.T) {
	for _, x := range []tensor.Tensor{
		{DType: tensor.Float32, Dims: []int64{}, Data: tensor.Float32s(1.5)},
		{DType: tensor.Int64, Dims: []int64{2}, Data: tensor.Int64s(1, 2)},
		{DType: tensor.Bool, Dims: []int64{0, 4}, Data: []byte{}},
	} {
		var b bytes.Buffer
		require.NoError(t, Write(&b, x))
		assert.Zero(t, (b.Len()-len(x.Data))%64, "the data is aligned")
		y, err := Read(&b)
		require.NoError(t, err)
		assert.Equal(t, x, y)
	}
	assert.Equal(t, fault.Unsupported, fault.KindOf(Write(&bytes.Buffer{}, tensor.New(tensor.Int4, 2))))
}

func TestRead_refusesDamage(t *testing.T) {
	for name, s := range map[string]string{
		"empty": "", "magic": "PK\x03\x04aaaaaaaa", "cut header": numpyFile[:40], "cut data": numpyFile[:len(numpyFile)-1],
		"version": strings.Replace(numpyFile, "NUMPY\x01", "NUMPY\x09", 1), "type": strings.Replace(numpyFile, "<i2", "<U2",
			1),
		"fortran": strings.Replace(numpyFile, "False", "True ", 1), "huge": strings.Replace(numpyFile, "(1, 3), }        ",
			"(99999999999, 3), }", 1)[:128],
		"negative": strings.Replace(numpyFile, "(1, 3)", "(-1,3)", 1),
	} {
		_, err := Read(strings.NewReader(s))
		assert.Equal(t, fault.File, fault.KindOf(err), name)
	}
}
