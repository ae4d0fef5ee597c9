package isc

var taskKindNames = names[TaskKind]{"task kind", []string{"call", "delegate", "decide"}, TaskCall}

// String is the name that messages use.
func (k TaskKind) String() string { return taskKindNames.string(k) }

// MarshalText refuses the zero kind.
func (k TaskKind) MarshalText() ([]byte, error) { return taskKindNames.marshal(k) }

// UnmarshalText takes the known names only.
func (k *TaskKind) UnmarshalText(b []byte) error { return taskKindNames.unmarshal(k, b) }

var statusNames = names[Status]{"status", []string{"done", "failed", "refused", "budget", "missing", "skipped"}, StatusDone}

// String is the name that messages use.
func (s Status) String() string { return statusNames.string(s) }

// MarshalText refuses the zero status.
func (s Status) MarshalText() ([]byte, error) { return statusNames.marshal(s) }

// UnmarshalText takes the known names only.
func (s *Status) UnmarshalText(b []byte) error { return statusNames.unmarshal(s, b) }
