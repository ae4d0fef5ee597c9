package hub

import "strings"

var (
	escaper   = strings.NewReplacer("~", "~0", "/", "~1")
	unescaper = strings.NewReplacer("~1", "/", "~0", "~")
)

// escapePointer makes a JSON Pointer token of a member's name (RFC 6901).
func escapePointer(name string) string { return escaper.Replace(name) }

func unescapePointer(token string) string { return unescaper.Replace(token) }
