package hub

import (
	"slices"

	"github.com/isolategpt/isolategpt/isc"
)

// vocabulary are names of a person's data that mean what they say. Under them,
// and under the needs of manifests that the program vouches for, a plan can
// refer to what is remembered. Other names are an app's words: they serve to
// find what that app asks for again, and no model sees them.
var vocabulary = []string{
	"address", "birth_date", "city", "company", "country", "currency", "date_of_birth", "email", "first_name", "full_name",
	"home_address", "language", "last_name", "medical_issues", "name", "nationality", "passport_number", "phone", "phone_number",
	"postal_code", "time_zone", "work_address", "zip_code",
}

func (r *registry) vouchesFor(name string) bool {
	if slices.Contains(vocabulary, name) {
		return true
	}
	for _, m := range r.installed {
		if m.Vouched && slices.ContainsFunc(m.Needs, func(f isc.DataField) bool { return f.Name == name }) {
			return true
		}
	}
	return false
}
