package module

// elements reads how many there are, and as many.
func elements(r *reader, what string, limit int, read func() error) error {
	n := r.count()
	if n > limit {
		return over(what, limit)
	}
	for range n {
		if err := read(); err != nil {
			return err
		}
		if r.bad {
			return malformed("a section is cut off")
		}
	}
	return nil
}

// isNumber says whether a type is one of numbers; no others are known.
func isNumber(t byte) bool { return t <= 0x7f && t >= 0x7c }

// numbers reads a vector of types, and gives how many there are.
func numbers(r *reader) int {
	types := r.vector()
	for _, t := range types {
		if !isNumber(t) {
			r.fail()
		}
	}
	return len(types)
}

func (p *preparing) readTypes(r *reader) error {
	return elements(r, "types", maxTypes, func() error {
		if r.byte() != 0x60 {
			r.fail()
		}
		s := signature{params: numbers(r), results: numbers(r)}
		if s.params > maxParams {
			return over("parameters of a function", maxParams)
		}
		if s.results > maxResults {
			return over("results of a function or block", maxResults)
		}
		p.types = append(p.types, s)
		return nil
	})
}

// readImports takes functions alone.
func (p *preparing) readImports(r *reader) error {
	return elements(r, "imports", maxImports, func() error {
		r.vector()
		r.vector()
		if r.byte() != 0 {
			return malformed("it imports something that is no function, which does not exist here")
		}
		p.funcs = append(p.funcs, r.number())
		return nil
	})
}

func (p *preparing) readFuncs(r *reader) error {
	return elements(r, "functions", maxFuncs, func() error {
		p.funcs = append(p.funcs, r.number())
		p.bodies++
		return nil
	})
}

// readTable takes one table of functions, without a limit or with one.
func (p *preparing) readTable(r *reader) error {
	return elements(r, "tables", 1, func() error {
		kind, limited := r.byte(), r.byte()
		least := r.number()
		if limited == 1 {
			r.number()
		}
		if kind != 0x70 || limited > 1 {
			return malformed("a table that is none of functions")
		}
		if least > maxTable {
			return over("entries of its table", maxTable)
		}
		return nil
	})
}

func (p *preparing) readGlobals(r *reader) error {
	return elements(r, "globals", maxGlobals, func() error {
		if !isNumber(r.byte()) {
			r.fail()
		}
		r.byte()
		constant(r)
		return nil
	})
}

func (p *preparing) readExports(r *reader) error {
	return elements(r, "exports", maxExports, func() error {
		r.vector()
		r.byte()
		r.number()
		return nil
	})
}

// readElements takes segments that name their functions by index.
func (p *preparing) readElements(r *reader) error {
	return elements(r, "segments of its table", maxSegments, func() error {
		form := r.number()
		if form > 3 {
			return malformed("a segment of its table with expressions")
		}
		if form == 2 {
			r.number()
		}
		if form == 0 || form == 2 {
			constant(r)
		}
		if form != 0 {
			r.byte()
		}
		return elements(r, "entries of all segments of its table", maxTable-p.elems, func() error {
			r.number()
			p.elems++
			return nil
		})
	})
}

func (p *preparing) readData(r *reader) error {
	return elements(r, "segments of its memory", maxData, func() error {
		form := r.number()
		if form > 2 {
			r.fail()
		}
		if form == 2 {
			r.number()
		}
		if form != 1 {
			constant(r)
		}
		r.vector()
		return nil
	})
}

// constant reads an expression of one instruction.
func constant(r *reader) {
	switch r.byte() {
	case 0x41:
		r.signed(32)
	case 0x42:
		r.signed(64)
	case 0x43:
		r.bytes(4)
	case 0x44:
		r.bytes(8)
	case 0x23:
		r.number()
	default:
		r.fail()
	}
	if r.byte() != opEnd {
		r.fail()
	}
}
