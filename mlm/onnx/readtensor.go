package onnx

import (
	"io/fs"
	"path"
	"strconv"
	"strings"
)

// tensor decodes a TensorProto and checks that its data has exactly the size its shape asks for.
func (p *parser) tensor(f field) (*Tensor, error) {
	if p.tensors++; p.tensors > maxTensors {
		return nil, errorf(errLimit, "graph", "more than %d tensors", maxTensors)
	}
	t := &Tensor{}
	s := spelt{external: map[string]string{}}
	err := p.message(f, "tensor", p.largeData, func(f field) (err error) {
		switch f.num {
		case 1:
			t.Dims, err = f.ints(t.Dims)
			if len(t.Dims) > maxRank {
				return errorf(errLimit, tensorAt(t.Name), "rank above %d", maxRank)
			}
		case 2:
			err = set(&t.Type)(f.int64())
		case 3:
			return errorf(errUnsupported, tensorAt(t.Name), "segmented tensor")
		case 4: // float_data
			s.packed, err = f.packed(s.packed, 4)
		case 10: // double_data
			s.packed, err = f.packed(s.packed, 8)
		case 5, 7, 11: // int32_data, int64_data, uint64_data
			s.ints, err = f.ints(s.ints)
		case 6:
			return errorf(errUnsupported, tensorAt(t.Name), "string data")
		case 8:
			t.Name, err = f.str()
		case 9:
			if s.raw = true; f.left {
				p.leftData(t, f)
				return nil
			}
			t.data, err = f.msg()
			t.ext = nil
			t.Origin = Origin{File: p.file, Offset: f.from, Length: int64(len(t.data))}
		case 13:
			err = p.entry(f, s.external)
		case 14:
			var v int64
			v, err = f.int64()
			s.isExternal = v == 1
		}
		return err
	})
	if err != nil {
		return nil, err
	}
	return p.settle(t, s)
}

// spelt is what a TensorProto says of its data, in one of the forms that it may have.
type spelt struct {
	packed          []byte
	ints            []int64
	raw, isExternal bool
	external        map[string]string
}

// settle gives a tensor the data that were spelt.
func (p *parser) settle(t *Tensor, s spelt) (*Tensor, error) {
	if t.Type.Bytes(1) == 0 {
		return nil, errorf(errUnsupported, tensorAt(t.Name), "element %v", t.Type)
	}
	n, err := elements(t.Dims)
	if err != nil {
		return nil, errorf(errLimit, tensorAt(t.Name), "%v", err)
	}
	want := t.Type.Bytes(n)
	switch {
	case s.isExternal:
		return t, p.external(t, s.external, want)
	case t.ext != nil: // left in the file
		return fitting(t)
	case s.raw:
		if p.file == "" {
			t.Origin = Origin{}
		}
	case s.packed != nil:
		t.data = s.packed[:len(s.packed):len(s.packed)]
	case s.ints != nil:
		size := t.Type.Size()
		if size == 0 { // each number has the byte of two elements
			n, size = want, 1
		}
		if int64(len(s.ints)) != n {
			return nil, errorf(errGraph, tensorAt(t.Name), "%d values for shape %v", len(s.ints), t.Dims)
		}
		t.data = packInts(s.ints, size)
	}
	return fitting(t)
}

// fitting is t, if its data are as many as its shape says.
func fitting(t *Tensor) (*Tensor, error) {
	if err := t.fits(t.stored()); err != nil {
		return nil, err
	}
	return t, nil
}

// entry reads one key and value of external_data.
func (p *parser) entry(f field, to map[string]string) error {
	var k, v string
	err := p.nested(f, "external data", func(f field) (err error) {
		switch f.num {
		case 1:
			k, err = f.str()
		case 2:
			v, err = f.str()
		}
		return err
	})
	if len(to) < 16 {
		to[k] = v
	}
	return err
}

// external checks where a tensor's data lies outside the model file.
func (p *parser) external(t *Tensor, entries map[string]string, want int64) error {
	bad := func(format string, args ...any) error {
		return errorf(ErrExternal, tensorAt(t.Name), format, args...)
	}
	name := entries["location"]
	// ValidPath refuses absolute paths, "..", "." and empty elements. A backslash or a colon would
	// be a path of its own on some systems.
	if !fs.ValidPath(name) || name == "." || strings.ContainsAny(name, `\:`) {
		return bad("location %q is not a file below the model's folder", name)
	}
	name = path.Join(path.Dir(p.file), name) // beside the model, which can lie deeper in the folder
	number := func(key string, def int64) (int64, error) {
		s, ok := entries[key]
		if !ok {
			return def, nil
		}
		v, err := strconv.ParseInt(s, 10, 64)
		if err != nil || v < 0 {
			return 0, bad("%s %q is not a number", key, s)
		}
		return v, nil
	}
	offset, err := number("offset", 0)
	if err != nil {
		return err
	}
	length, err := number("length", want)
	if err != nil {
		return err
	}
	if length != want {
		return bad("length %d where shape %v of %v needs %d", length, t.Dims, t.Type, want)
	}
	if p.dir == nil {
		return bad("model refers to %q but no folder was given", name)
	}
	size, ok := p.sizes[name]
	if !ok {
		info, err := fs.Stat(p.dir, name)
		if err != nil {
			return &Error{Kind: ErrExternal, At: tensorAt(t.Name),
				What: "file " + name + " is missing beside the model", Err: err}
		}
		if !info.Mode().IsRegular() {
			return bad("%s is not a regular file", name)
		}
		size = info.Size()
		p.sizes[name] = size
	}
	if offset > size || length > size-offset {
		return bad("bytes %d+%d lie outside %s of %d bytes", offset, length, name, size)
	}
	o := Origin{File: name, Offset: offset, Length: length}
	t.data, t.ext, t.Origin = nil, &external{p.dir, o, false}, o
	return nil
}
