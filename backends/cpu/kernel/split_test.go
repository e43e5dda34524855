package kernel

import (
	"testing"

	"github.com/stretchr/testify/require"
)

func TestSplit_takesGroupsApart(t *testing.T) {
	eachISA(t, func(t *testing.T) {
		for _, size := range []int{1, 2, 4, 8} {
			for _, k := range []int{2, 3, 4} {
				for _, n := range []int{1, 3, 4, 7, 8, 9, 15, 16, 17, 31, 32, 33, 56, 70, pairsBlock, pairsBlock + 1} {
					for _, gap := range []int{0, 3 * size} {
						const rows = 5
						src, dst := make([]byte, rows*(k*n*size+gap)), make([]byte, (k*rows*n+1)*size)
						for i := range src {
							src[i] = byte(i*7 + i>>8)
						}
						Split(dst, rows*n*size, n*size, src, k*n*size+gap, size, k, n, rows)
						for r := range rows {
							for i := range n {
								for c := range k {
									want := src[r*(k*n*size+gap)+(i*k+c)*size:][:size]
									if got := dst[(c*rows*n+r*n+i)*size:][:size]; string(got) != string(want) {
										require.Equal(t, want, got, "%d in %d, row %d, group %d of %d", size, k, r, i, n)
									}
								}
							}
						}
						require.Equal(t, make([]byte, size), dst[k*rows*n*size:])
					}
				}
			}
		}
	})
}
