package serve

import (
	"strconv"

	"github.com/anynpu/anynpu/internal/oip"
	"github.com/anynpu/anynpu/internal/serve/models"
	"github.com/anynpu/anynpu/internal/serve/queue"
)

// restStatistics answers with the statistics extension's counts, as far as they are known here.
func (c *call) restStatistics() (any, error) {
	v, err := c.server.config.Models.Find(c.r.PathValue("model"), c.r.PathValue("version"))
	if err != nil {
		return nil, err
	}
	return map[string]any{"model_stats": []any{c.server.statistics(v)}}, nil
}

func (s *Server) statistics(v *models.Version) map[string]any {
	type duration struct {
		Count int64 `json:"count"`
		NS    int64 `json:"ns"`
	}
	sum := func(d queue.Distribution) (t duration) {
		for _, n := range d.Parts {
			t.Count += n
		}
		t.NS = int64(d.Sum)
		return t
	}
	m := modelVersion{v.Name, strconv.Itoa(v.Number)}
	counts := v.Counts()
	took, failed := s.metrics.of(m)
	success := sum(took)
	return map[string]any{
		"name": v.Name, "version": m.version, "inference_count": success.Count, "execution_count": counts.Runs,
		"inference_stats": map[string]any{"success": success, "fail": duration{Count: failed}, "queue": sum(counts.Wait),
			"compute_infer": sum(counts.Compute)},
	}
}

// of returns the times of a model's requests that succeeded, and how many did not.
func (m *metrics) of(model modelVersion) (took queue.Distribution, failed int64) {
	m.mu.Lock()
	defer m.mu.Unlock()
	if h := m.took[model]; h != nil {
		took = h.Read()
	}
	for k, n := range m.answered {
		if k.modelVersion == model && k.code != oip.OK {
			failed += n
		}
	}
	return took, failed
}
