package outer

import "github.com/isolategpt/isolategpt/internal/sandbox/filter"

func here() filter.Arch { return filter.AMD64() }
