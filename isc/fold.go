package isc

import "unicode"

// foldRune is the one rune that stands for all that differ from r only by case.
func foldRune(r rune) rune {
	if r < 0x80 && (r < 'A' || r > 'Z') && r != 'k' && r != 's' {
		if r >= 'a' && r <= 'z' {
			return r - 'a' + 'A'
		}
		return r
	}
	least := r
	for f := unicode.SimpleFold(r); f != r; f = unicode.SimpleFold(f) {
		least = min(least, f)
	}
	return least
}

// folded is equal for two keys exactly if strings.EqualFold says so.
func folded(key string) string {
	out := make([]rune, 0, len(key))
	for _, r := range key {
		out = append(out, foldRune(r))
	}
	return string(out)
}

// foldHash is equal for keys that fold alike. It only sorts out the many that do
// not; who makes two hashes meet gains one comparison.
func foldHash(key []byte) uint64 {
	h := uint64(14695981039346656037)
	for _, r := range string(key) {
		h = (h ^ uint64(foldRune(r))) * 1099511628211
	}
	return h
}
