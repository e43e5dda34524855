package networks

import (
	"os"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	api "github.com/anynpu/anynpu/conformance/nnapi"
	"github.com/anynpu/anynpu/conformance/nnapi/model"
	"github.com/anynpu/anynpu/conformance/suite"
	"github.com/anynpu/anynpu/internal/leak"
)

func TestMain(m *testing.M) { os.Exit(leak.Run(m, nil)) }

// Every network is whole: what operations read was written before, inputs are read, outputs have values that tell
// something, and nothing else is written without being read.
func TestNetworks_areModelsOfTheAPI(t *testing.T) {
	all, err := networks()
	require.NoError(t, err)
	require.Len(t, all, 300)
	longest, kinds, types, flags := 0, map[string]bool{}, map[string]bool{}, 0
	names := map[string]bool{}
	for _, n := range all {
		assert.False(t, names[n.Name], "two networks %s", n.Name)
		names[n.Name] = true
		longest = max(longest, len(n.Operations))
		ready, read := map[uint32]bool{}, map[uint32]bool{}
		made := map[uint32]bool{}
		for _, i := range n.In {
			ready[i] = n.Operands[i].Valued()
		}
		for _, o := range n.Operations {
			assert.Contains(t, api.Operations, o.Op, n.Name)
			kinds[o.Op] = true
			for _, i := range o.In {
				x := &n.Operands[i]
				require.Contains(t, model.Types, x.Type, n.Name)
				assert.True(t, ready[i] || x.Valued() && !made[i], "%s: operand %d is read before it is written", n.Name, i)
				types[x.Type] = true
				read[i] = true
				if x.Type == "bool" && x.Data[0].Real == 1 {
					flags++
				}
			}
			for _, i := range o.Out {
				assert.False(t, ready[i], "%s: operand %d is written twice", n.Name, i)
				ready[i], made[i] = true, true
			}
		}
		for _, i := range n.In {
			assert.True(t, read[i], "%s: nothing reads input %d", n.Name, i)
		}
		for _, i := range n.Out {
			assert.True(t, made[i], "%s: nothing writes output %d", n.Name, i)
			read[i] = true
			o := &n.Operands[i]
			require.Len(t, o.Data, o.Count(), n.Name)
			varied := len(o.Data) == 1
			for _, v := range o.Data {
				varied = varied || v != o.Data[0]
			}
			assert.True(t, varied, "%s: every element of operand %d is %v", n.Name, i, o.Data[0])
		}
		for i := range made {
			assert.True(t, read[i], "%s: nothing comes of operand %d", n.Name, i)
		}
	}
	assert.Equal(t, 30, longest)
	assert.GreaterOrEqual(t, len(kinds), 65)
	assert.Greater(t, flags, 100, "operations with the channels first, and other options")
	for _, word := range []string{"F32", "F16", "I32", "Q8", "Q8S", "Q8C", "B8"} {
		assert.True(t, types[word], word)
	}
}

func TestPlaced_countsOperationsOfTheProgram(t *testing.T) {
	report := `{"nodes":[{"origin":0,"device":"a"},{"origin":0,"device":"a"},{"origin":-1,"device":"b"},` +
		`{"origin":1,"device":"b"},{"origin":0,"device":"b"}]}`
	assert.Equal(t, map[string]int{"a": 1, "b": 2}, placed([]byte(report)))
	assert.Nil(t, placed(nil))
}

// A way whose devices do not share the work fails, and so does a network that does.
func TestSummarize_demandsThatNetworksAreSplit(t *testing.T) {
	outcome := func(mode string, placement map[string]int, status suite.Status) *suite.Outcome {
		rep := &suite.Report{Mode: mode, Counts: map[suite.Status]int{status: 300}}
		for range 300 {
			rep.Results = append(rep.Results, suite.Result{Status: status, Placement: placement})
		}
		return &suite.Outcome{Reports: []*suite.Report{rep}, Own: true}
	}
	split := map[string]int{"large": 6, "small": 4, "nnapi-reference": 4}
	for _, c := range []struct {
		outcome *suite.Outcome
		good    bool
		says    string
	}{
		{outcome("guises", split, suite.Pass), true,
			"300 of 300 on guises (0 crashes, 0 hangs; 300 split; operations: large 1800, nnapi-reference 1200, small 1200)"},
		{outcome("guises", split, suite.Fail), false, "0 of 300 on guises"},
		{outcome("guises", map[string]int{"nnapi-reference": 14}, suite.Pass), false, "guises: 0 operations on large"},
		{outcome("guises", map[string]int{"large": 14}, suite.Pass), false, "guises: 0 networks on several devices"},
		{outcome("driver", map[string]int{"nnapi-reference": 14}, suite.Pass), false, "make conformance builds it"},
		{outcome("cpu", map[string]int{"nnapi-reference": 14}, suite.Pass), true, "300 of 300 on cpu"},
	} {
		var w strings.Builder
		assert.Equal(t, c.good, summarize(&w, c.outcome), w.String())
		assert.Contains(t, w.String(), c.says)
	}
	foreign := outcome("guises", nil, suite.Pass)
	foreign.Own = false
	assert.True(t, summarize(&strings.Builder{}, foreign), "another library has no guises")
}
