package ohnn

import (
	"os"
	"regexp"
	"strconv"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// headerEnum reads the names and numbers of an enum of the public header.
func headerEnum(t *testing.T, name string) map[string]int {
	text, err := os.ReadFile("../../../include/neural_network_runtime/neural_network_runtime_type.h")
	require.NoError(t, err)
	body := regexp.MustCompile(`(?s)typedef enum (?:`+name+` )?\{(.*?)\} `+name+`;`).FindAllSubmatch(text, -1)
	require.NotEmpty(t, body, name)
	block := body[len(body)-1][1]
	if i := regexp.MustCompile(`typedef enum`).FindAllIndex(block, -1); i != nil {
		block = block[i[len(i)-1][1]:]
	}
	out := map[string]int{}
	for _, m := range regexp.MustCompile(`(OH_NN_\w+) = (\d+)`).FindAllSubmatch(block, -1) {
		out[string(m[1])], _ = strconv.Atoi(string(m[2]))
	}
	return out
}

func TestRules_namesAreThoseOfTheHeader(t *testing.T) {
	ops := headerEnum(t, "OH_NN_OperationType")
	require.Len(t, ops, 108)
	assert.Len(t, Rules, 108)
	for name, number := range ops {
		assert.Equal(t, name, OperationType(number).String())
	}
	params := headerEnum(t, "OH_NN_TensorType")
	require.Len(t, params, 163)
	for name, number := range params {
		assert.Equal(t, name, TensorType(number).String())
	}
}

func TestRules_eachParameterBelongsToOneOperator(t *testing.T) {
	owner := map[TensorType]string{}
	for _, r := range Rules {
		for _, p := range r.Params {
			assert.Empty(t, owner[p.Number], "%v of %s", p.Number, r.Name)
			owner[p.Number] = r.Name
		}
	}
	assert.Len(t, owner, 161)
}
