package oip

import (
	"math"
	"time"

	"google.golang.org/protobuf/encoding/protowire"
)

// Statistics is what a server has counted of a model, all versions together: runs that succeeded, and how long they
// waited and were computed in all.
type Statistics struct {
	Runs           int64
	Queue, Compute time.Duration
}

// ParseStatistics reads a response of ModelStatistics. Times of input and output belong to computing.
func ParseStatistics(b []byte) (*Statistics, error) {
	const what = "statistics"
	s := &Statistics{}
	inside := func(f field, num protowire.Number, g func(field) error) error {
		if f.num != num {
			return nil
		}
		if err := f.want(what, protowire.BytesType); err != nil {
			return err
		}
		return each(what, f.bytes, g)
	}
	err := each(what, b, func(f field) error { // of the answer: 1 model_stats, of that: 6 inference_stats
		return inside(f, 1, func(f field) error {
			return inside(f, 6, func(f field) error { return s.duration(what, f) })
		})
	})
	if err != nil {
		return nil, err
	}
	return s, nil
}

// duration adds one of the durations of inference_stats: 1 success, 3 queue, 4 to 6 compute_input, compute_infer,
// compute_output. Each has 1 count, 2 ns.
func (s *Statistics) duration(what string, f field) error {
	switch f.num {
	case 1, 3, 4, 5, 6:
	default:
		return nil
	}
	if err := f.want(what, protowire.BytesType); err != nil {
		return err
	}
	var count, ns int64
	err := each(what, f.bytes, func(f field) error {
		if f.num > 2 {
			return nil
		}
		if err := f.want(what, protowire.VarintType); err != nil {
			return err
		}
		n := int64(min(f.value, math.MaxInt64/64))
		if f.num == 1 {
			count = n
		} else {
			ns = n
		}
		return nil
	})
	switch f.num {
	case 1:
		s.Runs += count
	case 3:
		s.Queue += time.Duration(ns)
	default:
		s.Compute += time.Duration(ns)
	}
	return err
}

// StatisticsJSON is the same as JSON.
type StatisticsJSON struct {
	Models []struct {
		Inference map[string]struct {
			Count int64 `json:"count"`
			NS    int64 `json:"ns"`
		} `json:"inference_stats"`
	} `json:"model_stats"`
}

// Sum adds the versions up.
func (j *StatisticsJSON) Sum() *Statistics {
	s := &Statistics{}
	for _, m := range j.Models {
		s.Runs += m.Inference["success"].Count
		s.Queue += time.Duration(m.Inference["queue"].NS)
		for _, part := range []string{"compute_input", "compute_infer", "compute_output"} {
			s.Compute += time.Duration(m.Inference[part].NS)
		}
	}
	return s
}
