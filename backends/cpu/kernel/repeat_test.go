package kernel

import (
	"bytes"
	"testing"

	"github.com/stretchr/testify/require"
)

func TestRepeatRows_writesNothingBeyond(t *testing.T) {
	eachISA(t, func(t *testing.T) {
		for _, n := range []int{1, 2, 4, 7, 8, 12, 31, 32, 33, 64, 100, 1024, 3000} {
			for _, times := range []int{1, 2, 3, 7, 16, 80, 600} {
				for _, rows := range []int{1, 2, 5, 17, 40} {
					if n*times*rows > 1<<20 {
						continue
					}
					src := make([]byte, n*rows)
					for i := range src {
						src[i] = byte(i*7 + i>>8 + 1)
					}
					var want []byte
					for r := range rows {
						want = append(want, bytes.Repeat(src[r*n:][:n], times)...)
					}
					dst := make([]byte, len(want)+40)
					RepeatRows(dst[:len(want)], src, n, times, rows)
					require.True(t, bytes.Equal(want, dst[:len(want)]), "%d bytes %d times, %d rows", n, times, rows)
					require.Equal(t, make([]byte, 40), dst[len(want):])
				}
			}
		}
	})
}
