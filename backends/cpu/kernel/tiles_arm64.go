//go:build !noasm

package kernel

var tilesNEON = gemmTiles{
	lanes: 8, mr: [3]int{8, 5},
	direct: [4][8]tileFn{
		{gemm1x8NEON, gemm2x8NEON, gemm3x8NEON, gemm4x8NEON, gemm5x8NEON, gemm6x8NEON, gemm7x8NEON, gemm8x8NEON},
		{gemm1x16NEON, gemm2x16NEON, gemm3x16NEON, gemm4x16NEON, gemm5x16NEON},
	},
	indirect: [3][8]itileFn{
		{igemm1x8NEON, igemm2x8NEON, igemm3x8NEON, igemm4x8NEON, igemm5x8NEON, igemm6x8NEON, igemm7x8NEON, igemm8x8NEON},
		{igemm1x16NEON, igemm2x16NEON, igemm3x16NEON, igemm4x16NEON, igemm5x16NEON},
	},
}

var intTilesNEON = intTiles{
	cols: 8, mr: [4]int{4},
	direct:   [4][8]dotFn{{dot1x8NEON, dot2x8NEON, dot3x8NEON, dot4x8NEON}},
	indirect: [4][8]idotFn{{idot1x8NEON, idot2x8NEON, idot3x8NEON, idot4x8NEON}},
}

var intTilesDotProd = intTiles{
	cols: 16, mr: [4]int{5},
	direct:   [4][8]dotFn{{dot1x16DotProd, dot2x16DotProd, dot3x16DotProd, dot4x16DotProd, dot5x16DotProd}},
	indirect: [4][8]idotFn{{idot1x16DotProd, idot2x16DotProd, idot3x16DotProd, idot4x16DotProd, idot5x16DotProd}},
}

var intTilesI8MM = intTiles{
	cols: 16, mr: [4]int{6},
	direct:   [4][8]dotFn{{dot1x16I8MM, dot2x16I8MM, dot3x16I8MM, dot4x16I8MM, dot5x16I8MM, dot6x16I8MM}},
	indirect: [4][8]idotFn{{idot1x16I8MM, idot2x16I8MM, idot3x16I8MM, idot4x16I8MM, idot5x16I8MM, idot6x16I8MM}},
}
