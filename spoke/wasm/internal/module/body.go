package module

// checkpoint is an empty loop. There is one at the start of each function; in
// the middle of one it would cost a compiler much, and calling one does not.
var checkpoint = []byte{opLoop, 0x40, opEnd}

func (p *preparing) readCode(r *reader) error {
	if len(r.rest) > p.limit {
		return over("bytes of code", p.limit)
	}
	n := r.count()
	if n != p.bodies {
		return malformed("functions without code, or code without a function")
	}
	p.code = make([]byte, 0, len(r.rest)+2*len(checkpoint)*n)
	b := &body{preparing: p}
	for i := range n {
		own := &reader{rest: r.vector()}
		if len(own.rest) > maxBody {
			return over("bytes of code in a function", maxBody)
		}
		if err := b.read(own, p.funcs[len(p.funcs)-n+i]); err != nil {
			return err
		}
		if own.bad || r.bad || len(own.rest) > 0 {
			return malformed("code of a function")
		}
		p.code = append(append(p.code, Uint(uint32(len(b.out)))...), b.out...)
	}
	return nil
}

// block is a part of a function that ends with an end.
type block struct {
	signature
	under int  // how many values lie under its parameters
	dead  bool // it stands where nothing gets to
}

// body is a function while it is looked at.
type body struct {
	*preparing
	out    []byte
	blocks []block
	height int  // of the operands
	most   int  // the greatest height
	dead   bool // nothing gets here
}

// read goes through a function of that type. In the end b.out is its new code.
func (b *body) read(r *reader, t uint32) error {
	own, ok := b.typeOf(t)
	if !ok {
		return malformed("a type that does not exist")
	}
	whole := r.rest
	locals, err := b.readLocals(r)
	if err != nil {
		return err
	}
	b.out = append(append(b.out[:0], whole[:len(whole)-len(r.rest)]...), checkpoint...)
	b.blocks = append(b.blocks[:0], block{signature: signature{results: own.results}})
	b.height, b.most, b.dead = 0, 0, false
	for len(b.blocks) > 0 && !r.bad {
		if err := b.instruction(r); err != nil {
			return err
		}
	}
	if own.params+locals+b.most > MaxFrame {
		return over("values in a call of a function", MaxFrame)
	}
	return nil
}

func (b *body) typeOf(t uint32) (signature, bool) {
	if uint64(t) >= uint64(len(b.types)) {
		return signature{}, false
	}
	return b.types[t], true
}

func (b *body) readLocals(r *reader) (int, error) {
	locals := 0
	for range r.count() {
		n := r.number()
		if !isNumber(r.byte()) {
			r.fail()
		}
		if n > MaxFrame || locals+int(n) > MaxFrame {
			return 0, over("values in a call of a function", MaxFrame)
		}
		locals += int(n)
	}
	if b.locals += locals; b.locals > maxLocals {
		return 0, over("locals of all functions", maxLocals)
	}
	return locals, nil
}

// instruction goes over one, and copies it.
func (b *body) instruction(r *reader) error {
	whole := r.rest
	op := r.byte()
	var err error
	switch s := shapes[op]; {
	case s.known:
		r.immediate(s.immediate)
		err = b.apply(s)
	case op == opBulk:
		err = b.bulk(r)
	case op == opBlock || op == opLoop || op == opIf:
		err = b.open(r, op)
	case op == opElse:
		b.reopen()
	case op == opEnd:
		b.close()
	default:
		err = b.transfer(r, op)
	}
	b.out = append(b.out, whole[:len(whole)-len(r.rest)]...)
	return err
}

// bulk goes over one of those that may take long, or are merely written alike.
func (b *body) bulk(r *reader) error {
	n := r.number()
	if uint64(n) >= uint64(len(bulkShapes)) {
		return malformed("an instruction that is not known here")
	}
	s := bulkShapes[n]
	r.immediate(s.immediate)
	if s.takes == 3 {
		b.out = append(b.out, Call(uint32(len(b.funcs)))...)
	}
	return b.apply(s)
}

// apply has an instruction take and give.
func (b *body) apply(s shape) error {
	if b.dead {
		return nil
	}
	if b.height -= s.takes; b.height < b.floor() {
		return malformed("an instruction without what it takes")
	}
	b.height += s.gives
	b.most = max(b.most, b.height)
	return nil
}

func (b *body) floor() int {
	return b.blocks[len(b.blocks)-1].under
}
