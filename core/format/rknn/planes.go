package rknn

import "strings"

// The names of the two inputs that the converter makes of an image whose bytes are luma and chroma (inputs_yuv_fmt),
// after that of the image.
const (
	LumaSuffix   = "_y_channel"
	ChromaSuffix = "_uv_channel"
)

// Images returns the inputs of the source model for those of a file: an image's luma [N,1,H,W] and chroma [N,1,H/2,W],
// which follow one another, become one input [N,-1,H,W] of its name. planes are the names of such images.
func Images(inputs []Port) (whole []Port, planes []string) {
	for i := 0; i < len(inputs); i++ {
		p := inputs[i]
		if i+1 < len(inputs) {
			if name, ok := image(&p, &inputs[i+1]); ok {
				planes = append(planes, name)
				p = Port{Name: name, Dims: []int64{p.Dims[0], -1, p.Dims[2], p.Dims[3]}}
				i++
			}
		}
		whole = append(whole, p)
	}
	return whole, planes
}

// image returns the name of the image of which two inputs are luma and chroma.
func image(luma, chroma *Port) (name string, ok bool) {
	if name, ok = strings.CutSuffix(luma.Name, LumaSuffix); !ok || name == "" || chroma.Name != name+ChromaSuffix {
		return "", false
	}
	y, c := luma.Dims, chroma.Dims
	return name, len(y) == 4 && len(c) == 4 && y[0] == c[0] && y[1] == 1 && c[1] == 1 && y[2] == 2*c[2] && y[3] == c[3]
}
