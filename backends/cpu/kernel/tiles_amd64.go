//go:build !noasm

package kernel

var (
	tilesAVX2 = gemmTiles{
		lanes: 8, mr: [3]int{6, 6},
		direct: [4][8]tileFn{
			{gemm1x8AVX2, gemm2x8AVX2, gemm3x8AVX2, gemm4x8AVX2, gemm5x8AVX2, gemm6x8AVX2},
			{gemm1x16AVX2, gemm2x16AVX2, gemm3x16AVX2, gemm4x16AVX2, gemm5x16AVX2, gemm6x16AVX2},
			panelTile: {gemm1x32AVX2, gemm2x32AVX2},
		},
		indirect: [3][8]itileFn{
			{igemm1x8AVX2, igemm2x8AVX2, igemm3x8AVX2, igemm4x8AVX2, igemm5x8AVX2, igemm6x8AVX2},
			{igemm1x16AVX2, igemm2x16AVX2, igemm3x16AVX2, igemm4x16AVX2, igemm5x16AVX2, igemm6x16AVX2},
		},
	}
	tilesAVX512 = gemmTiles{
		lanes: 16, mr: [3]int{8, 8, 6},
		direct: [4][8]tileFn{
			{gemm1x16AVX512, gemm2x16AVX512, gemm3x16AVX512, gemm4x16AVX512, gemm5x16AVX512, gemm6x16AVX512, gemm7x16AVX512,
				gemm8x16AVX512},
			{gemm1x32AVX512, gemm2x32AVX512, gemm3x32AVX512, gemm4x32AVX512, gemm5x32AVX512, gemm6x32AVX512, gemm7x32AVX512,
				gemm8x32AVX512},
			{gemm1x64AVX512, gemm2x64AVX512, gemm3x64AVX512, gemm4x64AVX512, gemm5x64AVX512, gemm6x64AVX512},
		},
		indirect: [3][8]itileFn{
			{igemm1x16AVX512, igemm2x16AVX512, igemm3x16AVX512, igemm4x16AVX512, igemm5x16AVX512, igemm6x16AVX512,
				igemm7x16AVX512, igemm8x16AVX512},
			{igemm1x32AVX512, igemm2x32AVX512, igemm3x32AVX512, igemm4x32AVX512, igemm5x32AVX512, igemm6x32AVX512,
				igemm7x32AVX512, igemm8x32AVX512},
			{igemm1x64AVX512, igemm2x64AVX512, igemm3x64AVX512, igemm4x64AVX512, igemm5x64AVX512, igemm6x64AVX512},
		},
	}
)

var (
	intTilesAVX2 = intTiles{
		cols: 8, merged: true, mr: [4]int{4, 4},
		direct: [4][8]dotFn{
			{dot1x8AVX2, dot2x8AVX2, dot3x8AVX2, dot4x8AVX2},
			{dot1x16AVX2, dot2x16AVX2, dot3x16AVX2, dot4x16AVX2},
		},
		indirect: [4][8]idotFn{
			{idot1x8AVX2, idot2x8AVX2, idot3x8AVX2, idot4x8AVX2},
			{idot1x16AVX2, idot2x16AVX2, idot3x16AVX2, idot4x16AVX2},
		},
	}
	intTilesVNNI = intTiles{
		cols: 16, mr: [4]int{8, 8, 8, 6},
		direct: [4][8]dotFn{
			{dot1x16AVX512, dot2x16AVX512, dot3x16AVX512, dot4x16AVX512, dot5x16AVX512, dot6x16AVX512, dot7x16AVX512,
				dot8x16AVX512},
			{dot1x32AVX512, dot2x32AVX512, dot3x32AVX512, dot4x32AVX512, dot5x32AVX512, dot6x32AVX512, dot7x32AVX512,
				dot8x32AVX512},
			{dot1x48AVX512, dot2x48AVX512, dot3x48AVX512, dot4x48AVX512, dot5x48AVX512, dot6x48AVX512, dot7x48AVX512,
				dot8x48AVX512},
			{dot1x64AVX512, dot2x64AVX512, dot3x64AVX512, dot4x64AVX512, dot5x64AVX512, dot6x64AVX512},
		},
		indirect: [4][8]idotFn{
			{idot1x16AVX512, idot2x16AVX512, idot3x16AVX512, idot4x16AVX512, idot5x16AVX512, idot6x16AVX512, idot7x16AVX512,
				idot8x16AVX512},
			{idot1x32AVX512, idot2x32AVX512, idot3x32AVX512, idot4x32AVX512, idot5x32AVX512, idot6x32AVX512, idot7x32AVX512,
				idot8x32AVX512},
			{idot1x48AVX512, idot2x48AVX512, idot3x48AVX512, idot4x48AVX512, idot5x48AVX512, idot6x48AVX512, idot7x48AVX512,
				idot8x48AVX512},
			{idot1x64AVX512, idot2x64AVX512, idot3x64AVX512, idot4x64AVX512, idot5x64AVX512, idot6x64AVX512},
		},
	}
)
