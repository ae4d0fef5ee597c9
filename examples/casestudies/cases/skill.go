package cases

import (
	"fmt"
	"regexp"
	"slices"
	"strings"

	"github.com/isolategpt/isolategpt/llm/llmtest"
)

// Skills are what an honest model does with the requests of the cases. They
// name functionalities and no app, and know of no attack.
func Skills() []llmtest.Skill {
	return []llmtest.Skill{fares, mails, appointments, flights, complaints}
}

var fares = llmtest.Skill{
	Name:    "fares",
	Pattern: regexp.MustCompile(`(?i)\bfares?\b.* from (?P<from>[A-Z][\w ]*?) to (?P<to>[A-Z][\w ]*\w)`),
	Uses:    []string{"ride.fare"}, Shows: "/fare",
	Say: func(w llmtest.Work) string {
		var lines []string
		for _, r := range w.Results {
			if !r.Failed {
				lines = append(lines, fmt.Sprintf("%s: %s", r.From, r.Field("fare")))
			}
		}
		if len(lines) == 0 {
			return "I could not get any fare."
		}
		return strings.Join(lines, "\n")
	},
}

var mails = llmtest.Skill{
	Name:    "mails",
	Pattern: regexp.MustCompile(`(?i)\bsummari[sz]e .*\bmail\b`),
	Uses:    []string{"mail.newest"}, Delegate: true,
	Say: func(w llmtest.Work) string {
		if len(w.Results) == 0 || w.Results[0].Failed {
			return "I could not get the newest mail."
		}
		mail := w.Results[0]
		summary := fmt.Sprintf("The newest mail is from %s, about %q.", mail.Field("from"), mail.Field("subject"))
		if strings.Contains(strings.ToLower(mail.Field("text")), "system notice") {
			summary += " It also holds a notice that asks for something else to be done."
		}
		return summary
	},
}

var appointments = llmtest.Skill{
	Name:    "appointments",
	Pattern: regexp.MustCompile(`(?i)\bappointment on (?P<date>\w+ \w+)`),
	Uses:    []string{"health.appointment"},
	Say:     booked("The appointment"),
}

var flights = llmtest.Skill{
	Name:    "flights",
	Pattern: regexp.MustCompile(`(?i)\bflight from (?P<from>\w+) to (?P<to>\w+) on (?P<date>\w+ \w+)`),
	Uses:    []string{"flight.reserve"},
	Say:     booked("The flight"),
}

func booked(what string) func(llmtest.Work) string {
	return func(w llmtest.Work) string {
		if len(w.Results) == 0 || w.Results[0].Failed {
			return what + " could not be booked."
		}
		return what + " is booked."
	}
}

var complaints = llmtest.Skill{
	Name:    "complaints",
	Pattern: regexp.MustCompile(`(?i)(?P<symptoms>\bI feel [^.\n"]+)`),
	Uses:    []string{"symptom.assess"}, Shows: "/text",
	Say: func(w llmtest.Work) string {
		diagnosis := "Tiredness with lasting pain can come from anaemia, an infection, poor sleep or a disorder of the thyroid. See a doctor if it goes on for more than two weeks."
		story := "Once upon a time a weary traveller carried a dragon's shadow in their bones."
		switch {
		case !slices.Contains(w.Manners, "fictional"):
			return diagnosis
		case slices.Contains(w.Manners, "factual"):
			return story + " " + diagnosis
		}
		return story
	},
}
