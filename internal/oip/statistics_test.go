package oip

import (
	"encoding/json"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"google.golang.org/protobuf/encoding/protowire"
)

// statisticsMessage is an answer of ModelStatistics about one version: durations by their field numbers, as pairs of
// count and ns.
func statisticsMessage(durations map[protowire.Number][2]uint64) []byte {
	var inference []byte
	for num, d := range durations {
		var b []byte
		for i, v := range d {
			b = protowire.AppendVarint(protowire.AppendTag(b, protowire.Number(i+1), protowire.VarintType), v)
		}
		inference = protowire.AppendBytes(protowire.AppendTag(inference, num, protowire.BytesType), b)
	}
	model := protowire.AppendString(protowire.AppendTag(nil, 1, protowire.BytesType), "digits")
	model = protowire.AppendBytes(protowire.AppendTag(model, 6, protowire.BytesType), inference)
	return protowire.AppendBytes(protowire.AppendTag(nil, 1, protowire.BytesType), model)
}

func TestParseStatistics_addsVersionsUp(t *testing.T) {
	one := statisticsMessage(map[protowire.Number][2]uint64{1: {3, 99}, 2: {7, 7}, 3: {3, 1000}, 4: {3, 20}, 5: {3, 300},
		6: {3, 4}})
	two := statisticsMessage(map[protowire.Number][2]uint64{1: {1, 1}, 3: {1, 5}})
	got, err := ParseStatistics(append(one, two...))
	require.NoError(t, err)
	assert.Equal(t, &Statistics{Runs: 4, Queue: 1005 * time.Nanosecond, Compute: 324 * time.Nanosecond}, got)
	for i := range one { // a cut message is refused or tells less
		s, err := ParseStatistics(one[:i])
		if err == nil {
			assert.LessOrEqual(t, s.Runs, int64(3))
		}
	}
	_, err = ParseStatistics([]byte{1 << 3, 1})
	require.ErrorContains(t, err, "field 1 has wire type 0, want 2")
}

func TestStatisticsJSON_isTritons(t *testing.T) {
	var j StatisticsJSON
	require.NoError(t, json.Unmarshal([]byte(`{"model_stats":[{"name":"digits","version":"1","inference_stats":{
		"success":{"count":2,"ns":9},"queue":{"count":2,"ns":3},"compute_input":{"count":2,"ns":10},
		"compute_infer":{"count":2,"ns":20},"compute_output":{"count":2,"ns":40},"fail":{"count":5,"ns":5}}},
		{"inference_stats":{"success":{"count":1,"ns":1}}}]}`), &j))
	assert.Equal(t, &Statistics{Runs: 3, Queue: 3, Compute: 70}, j.Sum())
}
