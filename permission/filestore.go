package permission

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"

	"github.com/isolategpt/isolategpt/isc"
)

// The ways a store's file is unusable. A [StoreError] wraps one of them.
var (
	// ErrCorrupt is for a file that is not what this package writes: cut off,
	// empty, of another shape, or holding a grant that cannot be.
	ErrCorrupt = errors.New("not a permission store")
	// ErrNewer is for a file that a newer version of this package wrote.
	ErrNewer = errors.New("written by a newer version")
)

// StoreError says which file of a store is unusable and why. No grant of such a
// file counts, nothing is written to it, and it is left as it is.
type StoreError struct {
	Path string
	Err  error
}

func (e *StoreError) Error() string {
	return fmt.Sprintf("permission: store %s: %v; it was left as it is, and no grant in it counts", e.Path, e.Err)
}

// Unwrap gives the cause.
func (e *StoreError) Unwrap() error { return e.Err }

// maxStore bounds the store's file, in bytes.
const maxStore = 1 << 20

// storeVersion is the version that this package writes and reads.
const storeVersion = 1

// FileStore is a [Store] in one JSON file, mode 0600. Each change is written to
// another file, synced and renamed over, under a lock that other processes
// honour too (path with ".lock"); so after a crash the file is the old one or
// the new one, whole. The file is read at each call, so that a change made by
// another process counts at once.
//
// The lock is advisory: a program that edits the file without it may lose a
// change, but not see half of one. On a network file system the lock is as good
// as that system makes it.
type FileStore struct{ path string }

// OpenFile opens the store at path, whose directory must exist. A file that is
// not there is an empty store, made at the first Put. A file that is unusable is
// a [*StoreError].
func OpenFile(path string) (*FileStore, error) {
	if path == "" {
		return nil, errors.New("permission: store: no path")
	}
	abs, err := filepath.Abs(path)
	if err != nil {
		return nil, fmt.Errorf("permission: store: %w", err)
	}
	s := &FileStore{path: abs}
	if _, err := s.read(); err != nil {
		return nil, err
	}
	return s, nil
}

// Grants returns the grants of user as they are in the file now.
func (s *FileStore) Grants(ctx context.Context, user string) ([]Grant, error) {
	if err := context.Cause(ctx); err != nil {
		return nil, err
	}
	all, err := s.read()
	if err != nil {
		return nil, err
	}
	return grantsOf(all, user), nil
}

// Put adds g, or replaces the grant with its id.
func (s *FileStore) Put(ctx context.Context, g Grant) error {
	if err := CheckGrant(g); err != nil {
		return err
	}
	return s.change(ctx, func(all []Grant) ([]Grant, error) { return withGrant(all, g) })
}

// Revoke removes a grant of user. An unknown id is [ErrNoGrant].
func (s *FileStore) Revoke(ctx context.Context, user, id string) error {
	return s.change(ctx, func(all []Grant) ([]Grant, error) { return withoutGrant(all, user, id) })
}

// change reads, changes and writes under the lock.
func (s *FileStore) change(ctx context.Context, f func([]Grant) ([]Grant, error)) error {
	if err := context.Cause(ctx); err != nil {
		return err
	}
	unlock, err := lockFile(ctx, s.path+".lock")
	if err != nil {
		return fmt.Errorf("permission: store %s: lock: %w", s.path, err)
	}
	defer unlock()
	all, err := s.read()
	if err != nil {
		return err
	}
	changed, err := f(all)
	if err != nil {
		return err
	}
	return s.write(changed)
}

// stored is the file's shape.
type stored struct {
	Version int     `json:"version"`
	Grants  []Grant `json:"grants"`
}

func (s *FileStore) read() ([]Grant, error) {
	f, err := os.Open(s.path)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	if err != nil {
		return nil, &StoreError{Path: s.path, Err: err}
	}
	defer f.Close()
	raw, err := io.ReadAll(io.LimitReader(f, maxStore+1))
	if err == nil && len(raw) > maxStore {
		err = fmt.Errorf("%w: over %d bytes", ErrCorrupt, maxStore)
	}
	if err != nil {
		return nil, &StoreError{Path: s.path, Err: err}
	}
	grants, err := decodeGrants(raw)
	if err != nil {
		return nil, &StoreError{Path: s.path, Err: err}
	}
	return grants, nil
}

// decodeGrants decodes a store strictly, the version before all else, since a
// newer file may have any shape.
func decodeGrants(raw []byte) ([]Grant, error) {
	var head struct {
		Version int `json:"version"`
	}
	if err := json.Unmarshal(raw, &head); err != nil {
		return nil, fmt.Errorf("%w: %w", ErrCorrupt, err)
	}
	if head.Version > storeVersion {
		return nil, fmt.Errorf("%w (version %d, this one knows %d)", ErrNewer, head.Version, storeVersion)
	}
	var doc stored
	if err := isc.Unmarshal(raw, &doc); err != nil {
		return nil, fmt.Errorf("%w: %w", ErrCorrupt, err)
	}
	if doc.Version != storeVersion {
		return nil, fmt.Errorf("%w: version %d", ErrCorrupt, doc.Version)
	}
	seen := make(map[string]bool, len(doc.Grants))
	for i, g := range doc.Grants {
		if err := g.canonicalTargets(); err != nil {
			return nil, fmt.Errorf("%w: grant %d: %w", ErrCorrupt, i, err)
		}
		if err := CheckGrant(g); err != nil {
			return nil, fmt.Errorf("%w: %w", ErrCorrupt, err)
		}
		if seen[g.ID] {
			return nil, fmt.Errorf("%w: grant %q is there twice", ErrCorrupt, g.ID)
		}
		seen[g.ID] = true
	}
	return doc.Grants, nil
}

// write replaces the file as one step.
func (s *FileStore) write(grants []Grant) (err error) {
	defer func() {
		if err != nil {
			err = fmt.Errorf("permission: store %s: write: %w", s.path, err)
		}
	}()
	if grants == nil {
		grants = []Grant{}
	}
	raw, err := json.MarshalIndent(stored{Version: storeVersion, Grants: grants}, "", " ")
	if err != nil {
		return err
	}
	if len(raw) >= maxStore {
		return fmt.Errorf("the store would pass %d bytes; revoke what is not needed", maxStore)
	}
	if _, err := decodeGrants(raw); err != nil {
		return err // never write what could not be read again
	}
	tmp, err := os.CreateTemp(filepath.Dir(s.path), filepath.Base(s.path)+".*.tmp") // mode 0600
	if err != nil {
		return err
	}
	defer os.Remove(tmp.Name()) // after the rename there is nothing of that name
	_, err = tmp.Write(append(raw, '\n'))
	if err := errors.Join(err, tmp.Sync(), tmp.Close()); err != nil {
		return err
	}
	if err := os.Rename(tmp.Name(), s.path); err != nil {
		return err
	}
	return syncDir(filepath.Dir(s.path))
}
