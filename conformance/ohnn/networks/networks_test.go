package networks

import (
	"io"
	"os"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/anynpu/anynpu/conformance/graphs"
	"github.com/anynpu/anynpu/conformance/ohnn"
	"github.com/anynpu/anynpu/conformance/ohnn/model"
	"github.com/anynpu/anynpu/conformance/suite"
	"github.com/anynpu/anynpu/conformance/suite/numbers"
	"github.com/anynpu/anynpu/internal/leak"
)

func TestMain(m *testing.M) { os.Exit(leak.Run(m, nil)) }

func TestCases_areModelsOfTheAPI(t *testing.T) {
	all, err := cases()
	require.NoError(t, err)
	require.Len(t, all.byName, len(all.names), "two cases of one name")
	longest := 0
	for _, name := range all.names {
		c := all.byName[name]
		longest = max(longest, len(c.Operations))
		for _, o := range c.Operations {
			assert.Contains(t, ohnn.Operators, o.Op, name)
			for _, i := range o.Params {
				assert.Contains(t, ohnn.TensorTypes, c.Tensors[i].Param, name)
			}
		}
		for _, i := range c.Inputs {
			assert.NotNil(t, c.Tensors[i].Feed, name)
		}
		for _, o := range c.Outputs {
			assert.NotNil(t, c.Tensors[o].Expect, name)
		}
		if c.Rel > 1e-5 || c.Abs > 1e-5 {
			assert.NotEmpty(t, c.Why, name)
		}
	}
	assert.GreaterOrEqual(t, longest, 30)
}

func TestTranslate_everyRandomGraph(t *testing.T) {
	random, err := graphs.Cases()
	require.NoError(t, err)
	for _, g := range random {
		c, err := translate(g)
		require.NoError(t, err, g.Name)
		assert.GreaterOrEqual(t, len(c.Operations), len(g.Graph.Nodes), g.Name)
		assert.Len(t, c.Outputs, len(g.Want), g.Name)
	}
}

func TestVariants_haveTheResultsOfTheCase(t *testing.T) {
	dims := []int32{2}
	v := []numbers.Number{numbers.Real(1), numbers.Real(2)}
	c := &Case{Name: "a", Model: model.Model{
		Tensors: []model.Tensor{
			{Type: "float32", Dims: dims, Feed: &model.Body{Dims: dims, Data: v}}, {Type: "float32", Dims: dims, Data: v},
			{Type: "float32", Dims: dims}, {Type: "float32", Dims: dims, Expect: &model.Body{Dims: dims, Data: v}},
			{Type: "float32", Dims: dims, Feed: &model.Body{Dims: dims, Data: v}}},
		Operations: []model.Operation{{Op: "ADD", In: []uint32{0, 1}, Out: []uint32{2}},
			{Op: "MUL", In: []uint32{2, 4}, Out: []uint32{3}}},
		Inputs: []uint32{0, 4}, Outputs: []uint32{3}}}
	require.Equal(t, []string{plain, reversed, fed, shown}, c.variants())
	m, err := c.variant(reversed)
	require.NoError(t, err)
	assert.Equal(t, []uint32{4, 0}, m.Inputs)
	m, err = c.variant(fed)
	require.NoError(t, err)
	assert.Equal(t, []uint32{0, 4, 1}, m.Inputs)
	assert.Nil(t, m.Tensors[1].Data)
	assert.Equal(t, v, m.Tensors[1].Feed.Data)
	m, err = c.variant(shown)
	require.NoError(t, err)
	assert.Equal(t, []uint32{3, 2}, m.Outputs)
	_, err = c.variant("other")
	assert.ErrorContains(t, err, `no variant "other"`)
	assert.Equal(t, []uint32{0, 4}, c.Inputs, "the case is as it was")
	c.Tensors[2].Dims = []int32{-1}
	assert.NotContains(t, c.variants(), shown, "an output of unknown sizes cannot be given memory")
}

func TestItems_areFound(t *testing.T) {
	items, err := items("")
	require.NoError(t, err)
	all, err := cases()
	require.NoError(t, err)
	for _, i := range items {
		c, variant, err := all.find(i.ID)
		require.NoError(t, err, i.ID)
		_, err = c.variant(variant)
		require.NoError(t, err, i.ID)
	}
	assert.Equal(t, "padding", family("padding/conv_0"))
	assert.Equal(t, "random graphs", family("random0001"))
	_, _, err = all.find("none/plain")
	assert.ErrorContains(t, err, `no case "none/plain"`)
}

func TestSummarize_aLibraryOfOthersMaySkip(t *testing.T) {
	for _, c := range []struct {
		status suite.Status
		own    bool
		good   bool
	}{{suite.Pass, true, true}, {suite.Skip, true, false}, {suite.Skip, false, true}, {suite.Fail, false, false}} {
		rep := &suite.Report{Counts: map[suite.Status]int{suite.Pass: 1}, Results: []suite.Result{{Status: suite.Pass},
			{Status: c.status}}}
		rep.Counts[c.status]++
		var w strings.Builder
		assert.Equal(t, c.good, summarize(&w, &suite.Outcome{Reports: []*suite.Report{rep}, Own: c.own}))
		assert.Contains(t, w.String(), "ohnn networks: ")
	}
	nothing := &suite.Report{Counts: map[suite.Status]int{suite.Skip: 1}, Results: []suite.Result{{Status: suite.Skip}}}
	assert.False(t, summarize(io.Discard, &suite.Outcome{Reports: []*suite.Report{nothing}}), "one that lacks everything")
}
