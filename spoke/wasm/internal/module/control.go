package module

// open begins a block.
func (b *body) open(r *reader, op byte) error {
	var s signature
	switch t := r.signed(33); {
	case t == -64:
	case t < 0 && t >= -4:
		s.results = 1
	case t < 0:
		return malformed("a block of a type that is not known here")
	default:
		var ok bool
		if s, ok = b.typeOf(uint32(t)); !ok {
			return malformed("a block of a type that does not exist")
		}
	}
	takes := s.params
	if op == opIf {
		takes++
	}
	if err := b.apply(shape{takes: takes, gives: s.params}); err != nil {
		return err
	}
	b.blocks = append(b.blocks, block{signature: s, under: b.height - s.params, dead: b.dead})
	return nil
}

// reopen begins the other part of an if.
func (b *body) reopen() {
	top := b.blocks[len(b.blocks)-1]
	b.dead = top.dead
	b.height = top.under + top.params
}

// close ends a block.
func (b *body) close() {
	top := b.blocks[len(b.blocks)-1]
	b.blocks = b.blocks[:len(b.blocks)-1]
	b.dead = top.dead
	b.height = top.under + top.results
	b.most = max(b.most, b.height)
}

// transfer goes over an instruction that calls, or that leads elsewhere.
func (b *body) transfer(r *reader, op byte) error {
	switch op {
	case opCall:
		f := r.number()
		if uint64(f) >= uint64(len(b.funcs)) {
			return malformed("a call of a function that does not exist")
		}
		return b.call(b.funcs[f], 0)
	case opCallIndirect:
		t := r.number()
		r.number()
		return b.call(t, 1)
	case opBrTable:
		for range r.count() + 1 {
			r.number()
		}
	case opBr:
		r.number()
	case opReturn, opUnreachable:
	default:
		return malformed("an instruction that is not known here")
	}
	b.dead = true
	return nil
}

// call calls a function of that type, with more than its parameters.
func (b *body) call(t uint32, more int) error {
	s, ok := b.typeOf(t)
	if !ok {
		return malformed("a type that does not exist")
	}
	return b.apply(shape{takes: s.params + more, gives: s.results})
}
