//go:build linux && (amd64 || arm64)

package sandbox

import (
	"fmt"
	"os"
	"path/filepath"

	"golang.org/x/sys/unix"
)

// emptyRoot makes a root with nothing in it but the grants, each at its own path,
// and lets go of the old one. It is for a process with all capabilities in its own
// user and mount namespaces.
func emptyRoot(grants []grant, dirs ...string) error {
	trees := make([]int, len(grants))
	for i, g := range grants {
		fd, err := unix.OpenTree(unix.AT_FDCWD, g.path, unix.OPEN_TREE_CLONE|unix.AT_RECURSIVE|unix.O_CLOEXEC)
		if err != nil {
			return &os.PathError{Op: "sandbox: declared path", Path: g.path, Err: err}
		}
		defer unix.Close(fd)
		trees[i] = fd
	}
	if err := newRoot(); err != nil {
		return err
	}
	for i, g := range grants {
		if err := g.mount(trees[i]); err != nil {
			return fmt.Errorf("sandbox: %s in the new root: %w", g.path, err)
		}
	}
	for _, dir := range dirs {
		if err := os.MkdirAll(dir, 0o755); err != nil { //nolint:gosec // others are to enter it
			return fmt.Errorf("sandbox: directory in the new root: %w", err)
		}
	}
	return attributes(unix.AT_FDCWD, "/", 0, unix.MOUNT_ATTR_RDONLY)
}

func newRoot() error {
	const here = "/proc" // a directory that exists: it was read a moment ago
	steps := []struct {
		what string
		do   func() error
	}{
		{"private mounts", func() error { return unix.Mount("", "/", "", unix.MS_REC|unix.MS_PRIVATE, "") }},
		{"an empty root", func() error {
			return unix.Mount("none", here, "tmpfs", unix.MS_NOSUID|unix.MS_NODEV, "size=1m,mode=0755")
		}},
		{"enter it", func() error { return unix.Chdir(here) }},
		{"exchange the roots", func() error { return unix.PivotRoot(".", ".") }},
		{"let the old one go", func() error { return unix.Unmount(".", unix.MNT_DETACH) }},
		{"enter the root", func() error { return unix.Chdir("/") }},
	}
	for _, s := range steps {
		if err := s.do(); err != nil {
			return fmt.Errorf("sandbox: %s: %w", s.what, err)
		}
	}
	return nil
}

// mount puts the tree at the grant's path in the new root.
func (g grant) mount(tree int) error {
	var st unix.Stat_t
	if err := unix.Fstat(tree, &st); err != nil {
		return err
	}
	if err := mountPoint(g.path, st.Mode&unix.S_IFMT == unix.S_IFDIR); err != nil {
		return err
	}
	if err := unix.MoveMount(tree, "", unix.AT_FDCWD, g.path, unix.MOVE_MOUNT_F_EMPTY_PATH); err != nil {
		return err
	}
	flags := uint64(unix.MOUNT_ATTR_NOSUID)
	if g.rights&unix.LANDLOCK_ACCESS_FS_WRITE_FILE == 0 {
		flags |= unix.MOUNT_ATTR_RDONLY
	}
	if st.Mode&unix.S_IFMT != unix.S_IFCHR {
		flags |= unix.MOUNT_ATTR_NODEV
	}
	return attributes(tree, "", unix.AT_EMPTY_PATH|unix.AT_RECURSIVE, flags)
}

func attributes(fd int, path string, at uint, set uint64) error {
	return unix.MountSetattr(fd, path, at, &unix.MountAttr{Attr_set: set})
}

// mountPoint makes what a tree is mounted on. Beneath an earlier tree it is there.
func mountPoint(path string, dir bool) error {
	if _, err := os.Stat(path); err == nil {
		return nil
	}
	parent := filepath.Dir(path)
	if dir {
		parent = path
	}
	if err := os.MkdirAll(parent, 0o755); err != nil || dir { //nolint:gosec // others are to enter it
		return err
	}
	f, err := os.OpenFile(path, os.O_CREATE|os.O_EXCL|os.O_WRONLY, 0o400)
	if err != nil {
		return err
	}
	return f.Close()
}
