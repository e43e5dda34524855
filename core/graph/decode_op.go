package graph

import "reflect"

// op reads an operator's name and fields.
func (d *decoder) op() Op {
	name := d.text()
	if d.err != nil {
		return nil
	}
	o, ok := NewOp(name)
	if !ok {
		d.fail("unknown operator %q", name)
		return nil
	}
	d.fields(reflect.ValueOf(o).Elem())
	return o
}

func (d *decoder) fields(v reflect.Value) {
	n := d.count(2)
	for i := 0; i < n && d.err == nil; i++ {
		name := d.text()
		f, ok := v.Type().FieldByName(name)
		if d.err == nil && (!ok || !f.IsExported() || len(f.Index) != 1) {
			d.fail("%v has no field %q", v.Type(), name)
		}
		if d.err == nil {
			d.value(v.FieldByIndex(f.Index))
		}
	}
}

func (d *decoder) value(v reflect.Value) {
	if d.nested++; d.nested > maxNested {
		d.fail("fields are nested deeper than %d", maxNested)
		return
	}
	defer func() { d.nested-- }()
	switch v.Kind() {
	case reflect.Bool:
		v.SetBool(d.flag())
	case reflect.Int, reflect.Int8, reflect.Int16, reflect.Int32, reflect.Int64:
		x := d.int()
		if v.OverflowInt(x) {
			d.fail("%d does not fit into %v", x, v.Type())
		}
		v.SetInt(x)
	case reflect.Uint, reflect.Uint8, reflect.Uint16, reflect.Uint32, reflect.Uint64:
		x := d.uint()
		if v.OverflowUint(x) {
			d.fail("%d does not fit into %v", x, v.Type())
		}
		v.SetUint(x)
	case reflect.Float32:
		v.SetFloat(float64(d.f32()))
	case reflect.Float64:
		v.SetFloat(d.f64())
	case reflect.String:
		v.SetString(d.text())
	case reflect.Slice:
		d.slice(v)
	case reflect.Array:
		for i := 0; i < v.Len() && d.err == nil; i++ {
			d.value(v.Index(i))
		}
	case reflect.Struct:
		d.fields(v)
	case reflect.Pointer:
		d.pointer(v)
	default:
		d.fail("a field of type %v cannot be decoded", v.Type())
	}
}

// slice reads the length plus one, 0 for nil, then the elements.
func (d *decoder) slice(v reflect.Value) {
	n := d.uint()
	if n == 0 || d.err != nil {
		return
	}
	n--
	if n > uint64(d.left()) { // every element takes a byte or more
		d.fail("%d elements, %d bytes left", n, d.left())
		return
	}
	s := reflect.MakeSlice(v.Type(), 0, int(min(n, 64)))
	for i := uint64(0); i < n && d.err == nil; i++ {
		e := reflect.New(v.Type().Elem()).Elem()
		d.value(e)
		s = reflect.Append(s, e)
	}
	v.Set(s)
}

func (d *decoder) pointer(v reflect.Value) {
	if !d.flag() || d.err != nil {
		return
	}
	switch v.Type() {
	case constType:
		v.Set(reflect.ValueOf(d.constant()))
	case graphType:
		outer := d.nested
		d.nested = 0
		v.Set(reflect.ValueOf(d.graph()))
		d.nested = outer
	default:
		v.Set(reflect.New(v.Type().Elem()))
		d.value(v.Elem())
	}
}
