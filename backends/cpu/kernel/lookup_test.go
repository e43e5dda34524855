package kernel

import (
	"testing"

	"github.com/stretchr/testify/require"
)

func TestLookupU8_equalsTable(t *testing.T) {
	r := rng(3)
	var table [256]uint8
	for i := range table {
		table[i] = uint8(r.Uint32())
	}
	eachISA(t, func(t *testing.T) {
		for _, n := range append(lengths(), 1024, 3*convertBlock+70) {
			src, all := make([]uint8, n), make([]uint8, n+2)
			for i := range src {
				src[i] = uint8(i + i>>8)
			}
			dst := all[1 : n+1]
			LookupU8(dst, src, &table)
			for i, c := range src {
				if dst[i] != table[c] {
					t.Fatalf("%d of %d: table[%d] = %d, got %d", i, n, c, table[c], dst[i])
				}
			}
			require.Zero(t, all[0]|all[n+1])
			LookupU8(src, src, &table)
			require.Equal(t, dst, src, "in place")
		}
	})
}
