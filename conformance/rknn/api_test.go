package rknn

import (
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
)

func TestFunctions_distinct(t *testing.T) {
	assert.Len(t, API.Functions, 35)
	all := slices.Concat(API.Functions, API.Historical)
	for _, f := range all {
		assert.True(t, strings.HasPrefix(f, API.Prefix), f)
	}
	assert.Len(t, slices.Compact(slices.Sorted(slices.Values(all))), 37)
}

func TestCodes_areNamed(t *testing.T) {
	assert.Equal(t, "SUCC(0)", API.CodeName(Success))
	assert.Equal(t, "ERR_PARAM_INVALID(-5)", API.CodeName(ParamInvalid))
	assert.Equal(t, "ERR_OUTPUT_INVALID(-9)", API.CodeName(OutputInvalid))
	assert.Equal(t, "WARNING_SKIP_CUSTOM_OP_COMPUTE(-14)", API.CodeName(SkipCompute))
}
