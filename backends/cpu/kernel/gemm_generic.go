package kernel

func gemmPanelGeneric(t *tileArgs) {
	for i := range t.m {
		var acc [PanelCols]float32
		s := acc[:t.ldb]
		switch {
		case t.k == 0:
		case t.ind == nil:
			dotPanel(s, t.a[i*t.lda:][:t.k], t.b)
		default:
			for tap := range t.taps {
				a := t.zero
				if o := t.ind.tab[(t.tap+tap)*t.ind.rows+t.row+i]; o >= 0 {
					a = t.a[o:]
				}
				dotPanel(s, a[:t.k], t.b[tap*t.k*t.ldb:])
			}
		}
		c := t.c[i*t.ldc:][:t.cols]
		for j := range c {
			v := s[j]
			if t.bias != nil {
				v += t.bias[j]
			}
			if t.res != nil && !t.after {
				v += t.res[i*t.ldr+j]
			}
			v = clamp(v, t.lo, t.hi)
			if t.res != nil && t.after {
				v += t.res[i*t.ldr+j]
			}
			c[j] = v
		}
	}
}

// dotPanel adds a times the panel b [len(a)][len(s)] to s.
func dotPanel(s, a, b []float32) {
	w := len(s)
	for k, x := range a {
		for j, y := range b[k*w:][:w] {
			s[j] += x * y
		}
	}
}
