package main

import (
	"bufio"
	"bytes"
	"fmt"
	"image"
	"image/color"
	_ "image/jpeg"
	_ "image/png"
	"io"
	"slices"

	"github.com/anynpu/anynpu/core/convert"
	"github.com/anynpu/anynpu/core/device"
	"github.com/anynpu/anynpu/core/fault"
	"github.com/anynpu/anynpu/core/format/metadata"
	"github.com/anynpu/anynpu/core/mem"
	"github.com/anynpu/anynpu/core/tensor"
)

// maxPixels bounds the images that are decoded.
const maxPixels = 1 << 26

// isImage recognizes PNG, JPEG, and binary PGM and PPM by their first bytes.
func isImage(head []byte) bool {
	for _, magic := range []string{"\x89PNG", "\xff\xd8\xff", "P5", "P6"} {
		if bytes.HasPrefix(head, []byte(magic)) {
			return true
		}
	}
	return false
}

// pixels is an image with 1 (gray) or 3 (red, green, blue) channels of 8 bits, row by row, channels innermost.
type pixels struct {
	height, width, channels int
	data                    []byte
}

// cautions say where results may be wrong because the image or the metadata lack something.
func (img pixels) cautions(p device.Port, in metadata.Input) (list []string) {
	if p.Type.DType.IsFloat() && len(in.Mean)+len(in.Std)+len(in.Scale) == 0 {
		key := "anynpu.input." + p.Name
		list = append(list, fmt.Sprintf("an input of real numbers gets bytes from 0 to 255, and the model's metadata give "+
			"neither mean nor std: results are wrong if the network wants them normalized; set %s.mean and %s.std, 0 and 1 if "+
			"the network takes the bytes as they are: anynpu metadata writes them into the model", key, key))
	}
	if d := p.Type.Shape.Dims; len(d) == 4 {
		if channels, _ := channelsOf(d); channels == 3 && img.channels == 1 {
			list = append(list, "a grey image for an input of 3 channels: all three get the same values, and results may be "+
				"wrong if the network was trained with colours")
		}
	}
	return list
}

// tensor is the image as the input of port p.
func (img pixels) tensor(p device.Port, in metadata.Input) (tensor.Tensor, error) {
	switch in.Pixel {
	case "", "gray", "rgb", "bgr":
	default:
		return tensor.Tensor{}, fault.New(fault.Unsupported, "metadata pixel %q: images give gray, rgb or bgr "+
			"[tool-metadata-pixel-images]", in.Pixel)
	}
	d := p.Type.Shape.Dims
	if len(d) != 4 {
		return tensor.Tensor{}, fault.New(fault.Shape, "an image for an input of %v; want 4 dimensions "+
			"[tool-image-input-dimensions]", p.Type.Shape)
	}
	channels, last := channelsOf(d)
	if channels == 0 {
		return tensor.Tensor{}, fault.New(fault.Shape, "an image for %v: neither dimension 1 nor 3 is 1 or 3 "+
			"channels [tool-image-dimension-channels]",
			p.Type.Shape)
	}
	std := slices.Clone(in.Std)
	for _, f := range in.Scale {
		std = append(std, 1/f)
	}
	for _, v := range [][]float32{in.Mean, std} {
		if len(v) > 1 && len(v) != channels {
			return tensor.Tensor{}, fault.New(fault.File, "metadata: %d values of mean, std or scale for %d "+
				"channels [tool-metadata-values-mean]", len(v),
				channels)
		}
	}
	img = img.as(channels)
	h, w := d[2], d[3]
	if last {
		h, w = d[1], d[2]
	}
	if h.Known() && w.Known() {
		if h.N < 1 || w.N < 1 || w.N > maxPixels/h.N {
			return tensor.Tensor{}, fault.New(fault.Shape, "an image for an input of %v "+
				"[tool-image-input]", p.Type.Shape)
		}
		img = img.resized(int(h.N), int(w.N))
	}
	dims := []int64{1, int64(channels), int64(img.height), int64(img.width)}
	if last {
		dims = []int64{1, int64(img.height), int64(img.width), int64(channels)}
	}
	bgr := in.Order == "bgr" || in.Order == "" && in.Pixel == "bgr"
	if err := mem.Admit(16 * int64(channels*img.height*img.width)); err != nil {
		return tensor.Tensor{}, err
	}
	t := tensor.New(p.Type.DType, dims...)
	if !t.DType.IsFloat() && !t.DType.IsInt() {
		return t, fault.New(fault.Type, "an image for %v [tool-image]", t.DType)
	}
	normalization := convert.Normalization{Mean: in.Mean, Std: std}
	for c := range channels {
		from := c
		if bgr && channels == 3 {
			from = 2 - c
		}
		mean, std := normalization.Of(c)
		for i := range img.height * img.width {
			at := c*img.height*img.width + i
			if last {
				at = i*channels + c
			}
			v := (float64(img.data[i*channels+from]) - float64(mean)) / float64(std)
			if t.DType.IsFloat() {
				tensor.PutFloat(t.DType, t.Data, at, v, true)
				continue
			}
			lo, hi := tensor.IntLimits(t.DType)
			tensor.PutInt(t.DType, t.Data, at, min(max(int64(v), lo), hi))
		}
	}
	return t, nil
}

// channelsOf finds the channels of an input: dimension 1, else (last true) dimension 3; 0 when neither is 1 or 3.
func channelsOf(d []tensor.Dim) (n int, last bool) {
	for _, i := range []int{1, 3} {
		if d[i].Known() && (d[i].N == 1 || d[i].N == 3) {
			return int(d[i].N), i == 3
		}
	}
	return 0, false
}

// as returns the image with n channels; gray is 0.299 red + 0.587 green + 0.114 blue (ITU-R BT.601).
func (p pixels) as(n int) pixels {
	if p.channels == n {
		return p
	}
	q := pixels{p.height, p.width, n, make([]byte, p.height*p.width*n)}
	for i := range p.height * p.width {
		if n == 3 {
			copy(q.data[3*i:], []byte{p.data[i], p.data[i], p.data[i]})
			continue
		}
		r, g, b := int(p.data[3*i]), int(p.data[3*i+1]), int(p.data[3*i+2])
		q.data[i] = byte((299*r + 587*g + 114*b + 500) / 1000)
	}
	return q
}

func decodeImage(f io.ReadSeeker) (pixels, error) {
	head := make([]byte, 2)
	if _, err := io.ReadFull(f, head); err != nil {
		return pixels{}, fault.As(fault.File, err, "image")
	}
	if _, err := f.Seek(0, io.SeekStart); err != nil {
		return pixels{}, fault.As(fault.File, err, "image")
	}
	if head[0] == 'P' {
		return decodePNM(bufio.NewReader(f))
	}
	c, _, err := image.DecodeConfig(f)
	if err != nil {
		return pixels{}, fault.As(fault.File, err, "image")
	}
	if c.Width < 1 || c.Height < 1 || c.Width > maxPixels/c.Height {
		return pixels{}, fault.New(fault.File, "an image of %d x %d [tool-image-decode-image]", c.Width, c.Height)
	}
	if _, err := f.Seek(0, io.SeekStart); err != nil {
		return pixels{}, fault.As(fault.File, err, "image")
	}
	img, _, err := image.Decode(f)
	if err != nil {
		return pixels{}, fault.As(fault.File, err, "image")
	}
	b := img.Bounds()
	switch gray := img.(type) {
	case *image.Gray:
		p := pixels{b.Dy(), b.Dx(), 1, nil}
		for y := range b.Dy() {
			p.data = append(p.data, gray.Pix[y*gray.Stride:][:b.Dx()]...)
		}
		return p, nil
	case *image.Gray16: // the first of the two bytes of a pixel is the higher one
		p := pixels{b.Dy(), b.Dx(), 1, make([]byte, 0, b.Dx()*b.Dy())}
		for y := range b.Dy() {
			for x := range b.Dx() {
				p.data = append(p.data, gray.Pix[y*gray.Stride+2*x])
			}
		}
		return p, nil
	}
	p := pixels{b.Dy(), b.Dx(), 3, make([]byte, 0, 3*b.Dx()*b.Dy())}
	for y := b.Min.Y; y < b.Max.Y; y++ {
		for x := b.Min.X; x < b.Max.X; x++ {
			c := color.NRGBAModel.Convert(img.At(x, y)).(color.NRGBA)
			p.data = append(p.data, c.R, c.G, c.B)
		}
	}
	return p, nil
}

// decodePNM reads a binary PGM or PPM file with at most 255 levels.
func decodePNM(r *bufio.Reader) (pixels, error) {
	var kind string
	var w, h, levels int
	for i, to := range []any{&kind, &w, &h, &levels} {
		if err := skipBlanks(r); err != nil {
			return pixels{}, fault.As(fault.File, err, "image: the header is cut off [tool-image-header-cut]")
		}
		if _, err := fmt.Fscan(r, to); err != nil {
			return pixels{}, fault.As(fault.File, err, "image: header field %d [tool-image-header-field]", i)
		}
	}
	if _, err := r.ReadByte(); err != nil { // the one blank before the samples
		return pixels{}, fault.As(fault.File, err, "image")
	}
	channels := map[string]int{"P5": 1, "P6": 3}[kind]
	if channels == 0 || w < 1 || h < 1 || w > maxPixels/h || levels < 1 || levels > 255 {
		return pixels{}, fault.New(fault.File, "image: %s %d x %d with %d levels "+
			"[tool-image-levels]", kind, w, h, levels)
	}
	if err := mem.Admit(int64(w * h * channels)); err != nil {
		return pixels{}, err
	}
	p := pixels{h, w, channels, make([]byte, w*h*channels)}
	if _, err := io.ReadFull(r, p.data); err != nil {
		return pixels{}, fault.As(fault.File, err, "image: %d x %d with %d channels "+
			"[tool-image-channels]", w, h, channels)
	}
	return p, nil
}

// skipBlanks reads white space and comments.
func skipBlanks(r *bufio.Reader) error {
	for {
		c, err := r.ReadByte()
		switch {
		case err != nil:
			return err
		case c == '#':
			if _, err := r.ReadString('\n'); err != nil {
				return err
			}
		case c != ' ' && c != '\t' && c != '\n' && c != '\r':
			return r.UnreadByte()
		}
	}
}

// resized returns the image with another height and width, by linear interpolation between pixel centres; beyond the
// outermost centres their values go on.
func (p pixels) resized(h, w int) pixels {
	if h == p.height && w == p.width {
		return p
	}
	q := pixels{h, w, p.channels, make([]byte, h*w*p.channels)}
	rows, cols := between(h, p.height), between(w, p.width)
	for y, r := range rows {
		for x, c := range cols {
			for k := range p.channels {
				at := func(row, col int) float64 { return float64(p.data[(row*p.width+col)*p.channels+k]) }
				above := at(r.first, c.first)*(1-c.part) + at(r.first, c.second)*c.part
				below := at(r.second, c.first)*(1-c.part) + at(r.second, c.second)*c.part
				q.data[(y*w+x)*p.channels+k] = byte(above*(1-r.part) + below*r.part + 0.5)
			}
		}
	}
	return q
}

// neighbours are the two pixels that a new one lies between, and how far it is from the first to the second.
type neighbours struct {
	first, second int
	part          float64
}

func between(to, from int) []neighbours {
	list := make([]neighbours, to)
	for i := range list {
		at := min(max((float64(i)+0.5)*float64(from)/float64(to)-0.5, 0), float64(from-1))
		first := int(at)
		list[i] = neighbours{first, min(first+1, from-1), at - float64(first)}
	}
	return list
}
