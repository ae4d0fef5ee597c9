package planner

import (
	"math"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"unicode"

	"github.com/isolategpt/isolategpt/isc"
)

// BM25's usual constants.
const (
	bmK = 1.2
	bmB = 0.75
)

// lexicon is what is made of a catalogue once, when it is first planned with.
type lexicon struct {
	once  sync.Once
	cards []card
	// unclear are the apps that need a pairwise match.
	unclear []App
	schema  atomic.Pointer[madeSchema]
	whole   atomic.Pointer[wholeView]

	postings map[string][]posting // by word, positions rising
	length   []int
	average  float64
	gives    map[string][]int // by name of a field in a read's response
}

type posting struct{ entry, count int }

func (c *Catalogue) lexical() *lexicon {
	l := c.lex
	if l == nil { // the zero catalogue
		l = &lexicon{}
	}
	l.once.Do(func() { l.build(c) })
	return l
}

// cards are the entries as planning sees them.
func (c *Catalogue) cards() []card { return c.lexical().cards }

func (l *lexicon) build(from *Catalogue) {
	entries := from.entries
	l.unclear = from.findUnclear()
	l.postings, l.gives = map[string][]posting{}, map[string][]int{}
	total := 0
	for i, e := range entries {
		c := cardOf(e, from.places(e.Request), from.places(e.Response))
		l.cards = append(l.cards, c)
		counts := map[string]int{}
		for _, w := range entryWords(e, c) {
			counts[w]++
		}
		n := 0
		for w, count := range counts {
			l.postings[w] = append(l.postings[w], posting{i, count})
			n += count
		}
		l.length = append(l.length, n)
		total += n
		if e.Effect == isc.Read {
			c.response.eachName(func(name string) { l.gives[name] = append(l.gives[name], i) })
		}
	}
	l.average = max(1, float64(total)/max(1, float64(len(entries))))
	for name, at := range l.gives {
		l.gives[name] = slices.Compact(at)
	}
}

// entryWords are an entry's name, parameters and vouched description.
func entryWords(e Entry, c card) []string {
	out := words(string(e.Functionality))
	out = append(out, out...) // a name says more than a parameter
	for _, f := range c.request.fields {
		out = append(out, words(f.name)...)
	}
	for _, id := range e.Providers[:min(len(e.Providers), 8)] {
		out = append(out, words(string(id))...)
	}
	return append(out, words(oneLine(e.Description))...)
}

func (n *node) eachName(do func(string)) {
	for _, c := range n.fields {
		do(c.name)
		c.eachName(do)
	}
	if n.elem != nil {
		n.elem.eachName(do)
	}
}

// words are the words of a text or name, in small letters, without endings.
func words(s string) []string {
	var out []string
	for _, w := range strings.FieldsFunc(spaceCase(s), func(r rune) bool { return !unicode.IsLetter(r) && !unicode.IsDigit(r) }) {
		if w = stem(strings.ToLower(w)); !slices.Contains(stop, w) {
			out = append(out, w)
		}
	}
	return out
}

// spaceCase puts a space where a small letter is followed by a capital.
func spaceCase(s string) string {
	var b strings.Builder
	small := false
	for _, r := range s {
		if small && unicode.IsUpper(r) {
			b.WriteByte(' ')
		}
		small = unicode.IsLower(r)
		b.WriteRune(r)
	}
	return b.String()
}

var stop = strings.Fields("a an and are at be by can do for from has have how i in is it me my of on or please that the their them there this to was what when where which with you your")

// stem cuts the commonest English endings.
func stem(w string) string {
	for _, end := range []string{"ing", "ies", "es", "ed", "s"} {
		if rest, ok := strings.CutSuffix(w, end); ok && len(rest) >= 3 {
			if end == "ies" {
				return rest + "y"
			}
			return rest
		}
	}
	return strings.TrimSuffix(w, "e")
}

// candidates are the positions of at most most entries, sorted: all, if they
// are few enough; else those whose words fit the query best, and the reads
// that can give what those need.
//
// Which entries are found depends on names, types and vouched text alone.
func (c *Catalogue) candidates(query string, most int, out map[isc.AppID]bool) []int {
	l := c.lexical()
	allowed := func(i int) bool {
		ps := c.entries[i].Providers
		return len(ps) == 0 || slices.ContainsFunc(ps, func(id isc.AppID) bool { return !out[id] })
	}
	if len(c.entries) <= most {
		var all []int
		for i := range c.entries {
			if allowed(i) {
				all = append(all, i)
			}
		}
		return all
	}
	chosen := newPicks(most, allowed)
	ranked := l.rank(query)
	for _, i := range ranked[:min(len(ranked), most*2/3)] {
		chosen.add(i)
	}
	for _, i := range slices.Clone(chosen.list) {
		l.supply(i, chosen)
	}
	for _, i := range ranked {
		chosen.add(i)
	}
	for i := range c.entries { // a request may share no word with what it needs
		if !chosen.add(i) && chosen.full() {
			break
		}
	}
	slices.Sort(chosen.list)
	return chosen.list
}

// rank sorts the entries that share a word with the query, the best first;
// ties go by name.
func (l *lexicon) rank(query string) []int {
	scores := map[int]float64{}
	seen := map[string]bool{}
	n := float64(len(l.cards))
	for _, w := range words(query) {
		if seen[w] {
			continue
		}
		seen[w] = true
		ps := l.postings[w]
		idf := math.Log(1 + (n-float64(len(ps))+0.5)/(float64(len(ps))+0.5))
		for _, p := range ps {
			f := float64(p.count)
			scores[p.entry] += idf * f * (bmK + 1) / (f + bmK*(1-bmB+bmB*float64(l.length[p.entry])/l.average))
		}
	}
	out := make([]int, 0, len(scores))
	for i := range scores {
		out = append(out, i)
	}
	slices.SortFunc(out, func(a, b int) int {
		if s := compare(scores[b], scores[a]); s != 0 {
			return s
		}
		return compare(a, b)
	})
	return out
}

// supply adds reads whose response has a field by the name of something that
// entry i must be given: for "event_id" also "id" of a read about events.
func (l *lexicon) supply(i int, chosen *picks) {
	const each = 2
	for _, need := range l.cards[i].request.fields {
		if !need.required {
			continue
		}
		found := 0
		for _, g := range l.gives[need.name] {
			if g != i && found < each && chosen.add(g) {
				found++
			}
		}
		owner, ok := strings.CutSuffix(need.name, "_id")
		if !ok {
			continue
		}
		for _, g := range l.gives["id"] {
			about := slices.ContainsFunc(words(l.cards[g].name), func(w string) bool { return slices.Contains(words(owner), w) })
			if about && g != i && found < each && chosen.add(g) {
				found++
			}
		}
	}
}

// picks is a bounded set of positions.
type picks struct {
	most    int
	allowed func(int) bool
	list    []int
	in      map[int]bool
}

func newPicks(most int, allowed func(int) bool) *picks {
	return &picks{most: most, allowed: allowed, in: map[int]bool{}}
}

func (p *picks) full() bool { return len(p.list) >= p.most }

// add reports whether the position was added now.
func (p *picks) add(i int) bool {
	if p.full() || p.in[i] || !p.allowed(i) {
		return false
	}
	p.in[i] = true
	p.list = append(p.list, i)
	return true
}
