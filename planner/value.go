package planner

import "encoding/json"

// Value is where something comes from.
//
//sumtype:decl
type Value interface{ value() }

// Literal is JSON as it stands.
type Literal struct{ JSON json.RawMessage }

// Ref takes what a pointer selects from a step's result. In a pointer "*"
// stands for all elements of an array or values of a map; the result is then
// one flat array. With One it is that array's only element. Numbers in
// pointers are an error.
type Ref struct {
	Step    string `json:"step"`
	Pointer string `json:"pointer"`
	One     bool   `json:"one,omitempty"`
}

// Memory takes what the hub remembers under a key. The key "today" is the
// hub's date.
type Memory struct {
	Key string `json:"memory"`
}

// Item takes what a pointer selects from the current element of an Each.
type Item struct {
	Pointer string `json:"item"`
}

// Template joins parts to one string. Literal parts are strings.
type Template struct {
	Parts []Value `json:"template"`
}

// Object makes an object of values.
type Object struct {
	Fields map[string]Value `json:"object"`
}

// Array makes an array of values.
type Array []Value

func (Literal) value()  {}
func (Ref) value()      {}
func (Memory) value()   {}
func (Item) value()     {}
func (Template) value() {}
func (Object) value()   {}
func (Array) value()    {}
