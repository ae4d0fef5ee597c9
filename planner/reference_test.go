package planner_test

import (
	"encoding/json"
	"os"
	"path/filepath"
	"slices"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/isolategpt/isolategpt/isc"
	"github.com/isolategpt/isolategpt/planner"
)

// dataDir is where public data sets lie: beside the project, never in it.
func dataDir(t *testing.T, name string) string {
	t.Helper()
	dir := os.Getenv("ISOLATEGPT_DATA")
	if dir == "" {
		dir = filepath.Join("..", "..", "shared", "data")
	}
	dir = filepath.Join(dir, name)
	if _, err := os.Stat(dir); err != nil {
		t.Skipf("no data set at %s: set ISOLATEGPT_DATA", dir)
	}
	return dir
}

func readJSON[T any](t *testing.T, path string) T {
	t.Helper()
	raw, err := os.ReadFile(path)
	require.NoError(t, err)
	var v T
	require.NoError(t, json.Unmarshal(raw, &v))
	return v
}

// refFunctionality is one functionality as the reference plans describe it.
type refFunctionality struct {
	App     string
	Effect  string
	Request map[string]struct {
		Role     string
		Required bool
		Format   string
	}
	Response map[string]any
}

type refTool struct {
	Name string
	Args struct {
		Properties map[string]map[string]any
	} `json:"args_schema"`
}

// TestReferencePlans57 says every reference plan in our language, and demands
// that each is valid and that our form of it decodes to itself.
func TestReferencePlans57(t *testing.T) {
	dir := dataDir(t, "agentdojo")
	formats := readJSON[map[string]map[string]refFunctionality](t, filepath.Join(dir, "plans", "formats.json"))
	total := 0
	for _, suite := range []string{"banking", "slack", "travel"} {
		tools := readJSON[struct{ Tools []refTool }](t, filepath.Join(dir, suite+".json")).Tools
		cat := referenceCatalogue(t, formats[suite], tools)
		for task, plan := range readJSON[map[string]any](t, filepath.Join(dir, "plans", "plans", suite+".json")) {
			total++
			t.Run(suite+"/"+task, func(t *testing.T) {
				raw, err := json.Marshal(ours(plan))
				require.NoError(t, err)
				p, err := planner.DecodePlan(raw)
				require.NoError(t, err)
				before, err := json.Marshal(p)
				require.NoError(t, err)
				checked, problems := p.Validate(cat, planner.ValidateInput{})
				require.Empty(t, problems)
				require.Len(t, checked.Order(), len(p.Steps), "%v", checked.Notes())
				after, err := json.Marshal(checked.Plan())
				require.NoError(t, err)
				require.JSONEq(t, string(before), string(after))
			})
		}
	}
	require.Equal(t, 57, total)
}

// ours translates a reference plan's JSON: only answer formats have another
// form.
func ours(v any) any {
	switch v := v.(type) {
	case []any:
		for i := range v {
			v[i] = ours(v[i])
		}
	case map[string]any:
		_, shape := v["type"]
		_, pick := v["x-pick"]
		for from, to := range map[string]string{"x-pick": "pick", "x-found": "found", "maxItems": "max_items", "properties": "fields"} {
			if x, ok := v[from]; ok && (shape || pick) {
				delete(v, from)
				v[to] = x
			}
		}
		for key := range v {
			v[key] = ours(v[key])
		}
	}
	return v
}

func referenceCatalogue(t *testing.T, fs map[string]refFunctionality, tools []refTool) *planner.Catalogue {
	t.Helper()
	apps := map[string]*isc.Manifest{}
	for _, tool := range tools {
		f, ok := fs[tool.Name]
		require.True(t, ok, tool.Name)
		if apps[f.App] == nil {
			apps[f.App] = &isc.Manifest{ID: isc.AppID(f.App), Name: f.App, Vouched: true}
		}
		effect := map[string]isc.Effect{"read": isc.Read, "write": isc.Write, "irreversible": isc.Irreversible}[f.Effect]
		apps[f.App].Functionalities = append(apps[f.App].Functionalities, isc.Functionality{
			Name: isc.FunctionalityName(tool.Name), Effect: effect,
			Request: referenceRequest(t, f, tool), Response: parseFormat(t, referenceSchema(f.Response)),
		})
	}
	var cfg planner.CatalogueConfig
	for _, m := range apps {
		cfg.Manifests = append(cfg.Manifests, *m)
	}
	cat, err := planner.NewCatalogue(cfg)
	require.NoError(t, err)
	return cat
}

func parseFormat(t *testing.T, schema any) *isc.Format {
	t.Helper()
	raw, err := json.Marshal(schema)
	require.NoError(t, err)
	f, err := isc.ParseFormat(raw)
	require.NoError(t, err, string(raw))
	return f
}

func referenceRequest(t *testing.T, f refFunctionality, tool refTool) *isc.Format {
	properties, needed := map[string]any{}, []string{}
	for name, r := range f.Request {
		schema := referenceSchema(tool.Args.Properties[name])
		if r.Format != "" {
			maps := referenceSchema(map[string]any{"type": schema["type"], "format": r.Format})
			schema = maps
		}
		role := map[string]string{"target": "destination", "object": "record", "key": "payload", "payload": "payload"}[r.Role]
		if name == "amount" {
			role = "measure"
		}
		schema["x-isolate-role"] = role
		properties[name] = schema
		if r.Required {
			needed = append(needed, name)
		}
	}
	slices.Sort(needed)
	return parseFormat(t, map[string]any{
		"type": "object", "properties": properties, "required": needed, "additionalProperties": false,
	})
}

// referencePatterns stand for formats that JSON Schema has not.
var referencePatterns = map[string]string{
	"minute":    `^[0-9]{4}-[0-9]{2}-[0-9]{2} [0-9]{2}:[0-9]{2}$`,
	"date-time": `^[0-9]{4}-[0-9]{2}-[0-9]{2}T[0-9]{2}:[0-9]{2}:[0-9]{2}$`,
	"id":        `^[0-9]{1,12}$`,
	"iban":      `^[A-Z]{2}[0-9]{2}[A-Z0-9]{10,30}$`,
	"account":   `^[A-Za-z0-9]{1,34}$`,
}

// referenceSchema makes JSON Schema of the reference plans' small one.
func referenceSchema(in map[string]any) map[string]any {
	out := map[string]any{}
	for key, v := range in {
		switch key {
		case "type", "enum":
			out[key] = v
		case "format":
			if p, ok := referencePatterns[v.(string)]; ok {
				out["pattern"] = p
			} else {
				out[key] = v
			}
		case "items", "additionalProperties":
			if m, ok := v.(map[string]any); ok {
				out[key] = referenceSchema(m)
			} else {
				out[key] = v
			}
		case "properties":
			fields := map[string]any{}
			for name, f := range v.(map[string]any) {
				fields[name] = referenceSchema(f.(map[string]any))
			}
			out[key] = fields
			out["additionalProperties"] = false
		case "anyOf":
			for _, alt := range v.([]any) {
				m := referenceSchema(alt.(map[string]any))
				if m["type"] == "null" {
					continue
				}
				for k, x := range m {
					out[k] = x
				}
				out["type"] = []any{m["type"], "null"}
			}
		}
	}
	if in["nullable"] == true {
		out["type"] = []any{in["type"], "null"}
	}
	return out
}
