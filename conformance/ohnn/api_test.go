package ohnn

import (
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
)

func TestFunctions_distinct(t *testing.T) {
	assert.Len(t, API.Functions, 82, "75 public functions and 7 of the inner header")
	for _, f := range API.Functions {
		assert.True(t, strings.HasPrefix(f, API.Prefix), f)
	}
	assert.Len(t, slices.Compact(slices.Sorted(slices.Values(API.Functions))), 82)
}

func TestCodes_areNamed(t *testing.T) {
	assert.Equal(t, "SUCCESS(0)", API.CodeName(Success))
	assert.Equal(t, "OPERATION_FORBIDDEN(4)", API.CodeName(Forbidden))
	assert.Equal(t, "DYNAMIC_SHAPE(13)", API.CodeName(DynamicShape))
	assert.Equal(t, "99", API.CodeName(99))
}
