package pool

import (
	"strconv"
	"testing"

	"github.com/stretchr/testify/assert"
)

func TestFastest_countsTheFastestCluster(t *testing.T) {
	for name, c := range map[string]struct {
		capacities []int
		want       int
	}{
		"none":                        {nil, 0},
		"one kind":                    {[]int{1024, 1024, 1024, 1024}, 4},
		"four small, four large":      {[]int{530, 530, 530, 530, 1024, 1024, 1010, 1010}, 4},
		"four, three and one prime":   {[]int{250, 250, 250, 250, 800, 800, 800, 1024}, 4},
		"two clusters, mask of small": {[]int{530, 530}, 2},
		"one that states none":        {[]int{1024, 0, 1024}, 3},
	} {
		cpus := make([]int, len(c.capacities))
		for i := range cpus {
			cpus[i] = i
		}
		got := fastest(cpus, func(cpu int) string {
			if c.capacities[cpu] == 0 {
				return ""
			}
			return strconv.Itoa(c.capacities[cpu]) + "\n"
		})
		assert.Equal(t, c.want, got, name)
	}
}
