package terminal

import (
	"context"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/isolategpt/isolategpt/isc"
	"github.com/isolategpt/isolategpt/permission"
)

var keys = map[string]permission.Decision{
	"o": permission.AllowOnce, "s": permission.AllowSession, "p": permission.AllowPermanent,
}

// ask reads keys until there is an answer. Enter denies; so do mistakes in a
// row.
func (d *dialog) ask(ctx context.Context) (permission.Answer, error) {
	var choice isc.AppID
	if d.req.Kind == permission.SelectApp {
		id, ans, err := d.choose(ctx)
		if err != nil || id == "" {
			return ans, err
		}
		choice = id
	}
	for range maxMistakes {
		line, err := d.line(ctx, d.menuLine())
		if err != nil {
			return permission.Answer{}, err
		}
		key, rest, _ := strings.Cut(line, " ")
		key = strings.ToLower(key)
		if key == "" || key == "d" {
			return d.deny(rest), nil
		}
		if decision, ok := keys[key]; ok && rest == "" && slices.Contains(d.req.Offered, decision) {
			ans, done, err := d.allow(ctx, decision, choice)
			if done || err != nil {
				return ans, err
			}
			continue
		}
		if err := d.other(key); err != nil {
			return permission.Answer{}, err
		}
	}
	return d.deny("no key that was offered"), nil
}

func (d *dialog) deny(reason string) permission.Answer {
	ans := d.req.Answer(permission.Deny)
	ans.Reason = strings.TrimSpace(reason)
	_ = d.write("Denied.\n") // it is denied whether or not this can be read
	return ans
}

// choose reads the number of a candidate. A number alone allows nothing yet.
func (d *dialog) choose(ctx context.Context) (isc.AppID, permission.Answer, error) {
	for range maxMistakes {
		line, err := d.line(ctx, fmt.Sprintf("Which one, 1 to %d? Enter denies: ", len(d.req.Options)))
		if err != nil {
			return "", permission.Answer{}, err
		}
		if line == "" || strings.EqualFold(line, "d") {
			return "", d.deny(""), nil
		}
		if n, err := strconv.Atoi(line); err == nil && n >= 1 && n <= len(d.req.Options) {
			id := d.req.Options[n-1].ID
			return id, permission.Answer{}, d.write(fmt.Sprintf("You chose %s.\n", word(string(id))))
		}
	}
	return "", d.deny("no number that was offered"), nil
}

// allow confirms what needs it. It is not done if the person is to look first.
func (d *dialog) allow(ctx context.Context, decision permission.Decision, choice isc.AppID) (permission.Answer, bool, error) {
	if n := abridged(d.req); decision == permission.AllowPermanent && !d.viewed && n > 0 {
		return permission.Answer{}, false, d.write(fmt.Sprintf("Not everything was shown (%d shortened). View all (v) before you allow it for good.\n", n))
	}
	if decision != permission.AllowOnce {
		rule := bars("", visible(d.req.WouldGrant(decision, choice).String()))
		if err := d.write("Will be kept " + lifetimes[decision] + ":\n" + rule); err != nil {
			return permission.Answer{}, false, err
		}
	}
	if cannotBeUndone(d.req) {
		word := confirmWord(d.req)
		line, err := d.line(ctx, fmt.Sprintf("This cannot be undone. To allow it type %s; anything else denies: ", word))
		if err != nil {
			return permission.Answer{}, false, err
		}
		if line != word {
			return d.deny(""), true, nil
		}
	}
	return d.req.Choose(decision, choice), true, d.write("Allowed, " + lifetimes[decision] + ".\n")
}

func (d *dialog) other(key string) error {
	switch key {
	case "v":
		d.viewed = true
		return d.write(renderAll(d.req))
	case "?":
		return d.write(help(d.req))
	default:
		return d.write("That is not one of the keys.\n")
	}
}

// confirmWord is what is typed for an act that cannot be undone.
func confirmWord(r permission.Request) string {
	if r.Functionality == "" {
		return "allow"
	}
	return word(string(r.Functionality))
}

func (d *dialog) menuLine() string {
	var b strings.Builder
	if n := abridged(d.req); n > 0 && !d.viewed {
		fmt.Fprintf(&b, "Shortened above: %d; v shows all.\n", n)
	}
	b.WriteString("[D]eny")
	for _, k := range []string{"o", "s", "p"} {
		if slices.Contains(d.req.Offered, keys[k]) {
			fmt.Fprintf(&b, "  [%s] %s", k, keys[k])
		}
	}
	fmt.Fprintf(&b, "  [v]iew all  [?] help\nType a letter and Enter; Enter alone denies (%s): ", remaining(d.expires))
	return b.String()
}
