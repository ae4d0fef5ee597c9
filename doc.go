// Package isolategpt runs a person's request over third-party apps.
package isolategpt
