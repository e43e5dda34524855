package rknn

import (
	"encoding/json"
	"os"
	"reflect"
	"testing"

	"github.com/stretchr/testify/require"
)

// TestStructs_areTheHeaders compares with the description of rknn_api.h.
func TestStructs_areTheHeaders(t *testing.T) {
	var api struct {
		Structs []struct {
			Name   string
			Size   uintptr
			Fields []struct{ Offset uintptr }
		}
	}
	for _, name := range []string{"rknn", "rknn_matmul"} {
		text, err := os.ReadFile("../../../capi/abi/abicheck/" + name + ".json")
		require.NoError(t, err)
		known := api.Structs
		api.Structs = nil
		require.NoError(t, json.Unmarshal(text, &api))
		api.Structs = append(known, api.Structs...)
	}
	ours := map[string]reflect.Type{"rknn_input_output_num": reflect.TypeFor[InOutNum](),
		"rknn_tensor_attr": reflect.TypeFor[TensorAttr](), "rknn_tensor_mem": reflect.TypeFor[TensorMem](),
		"rknn_matmul_info": reflect.TypeFor[MatmulInfo](), "rknn_matmul_tensor_attr": reflect.TypeFor[MatmulTensorAttr](),
		"rknn_matmul_io_attr": reflect.TypeFor[MatmulIOAttr]()}
	for _, s := range api.Structs {
		own := ours[s.Name]
		if own == nil {
			continue
		}
		delete(ours, s.Name)
		require.Equal(t, s.Size, own.Size(), s.Name)
		require.Len(t, s.Fields, own.NumField(), s.Name)
		for i, f := range s.Fields {
			require.Equal(t, f.Offset, own.Field(i).Offset, "%s, field %d", s.Name, i)
		}
	}
	require.Empty(t, ours)
}
