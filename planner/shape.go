package planner

// Shape is the small format of a decide's or ask's answer.
type Shape struct {
	Type ShapeType
	// Enum restricts a ShapeString.
	Enum []string
	// Format restricts a ShapeString: date, time, minute, email, iban, uri.
	Format string
	// Found: the string must occur word for word in an input. Checked by the
	// operator.
	Found bool
	// Pick: the model answers with an index into that array; the value is the
	// element.
	Pick *Ref
	// Items and MaxItems are of a ShapeArray.
	Items    *Shape
	MaxItems int
	// Fields are of a ShapeObject.
	Fields   map[string]Shape
	Nullable bool
}

// ShapeType is the type of a shape. The zero value is invalid.
type ShapeType uint8

// The types.
const (
	_ ShapeType = iota
	ShapeBoolean
	ShapeNumber
	ShapeInteger
	ShapeString
	ShapePick
	ShapeArray
	ShapeObject
)

// shapeTypes has no pick: that a shape is one is said by the key "pick".
var shapeTypes = map[string]ShapeType{
	"boolean": ShapeBoolean, "number": ShapeNumber, "integer": ShapeInteger,
	"string": ShapeString, "array": ShapeArray, "object": ShapeObject,
}

// String is the type as plans write it.
func (t ShapeType) String() string { return nameOf(shapeTypes, t) }
