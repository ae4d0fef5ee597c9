//go:build linux && (amd64 || arm64)

package sandbox

import (
	"encoding/binary"
	"fmt"
	"os"

	"golang.org/x/sys/unix"
)

// landlock is a ruleset that was made but not yet applied.
type landlock struct {
	abi  int
	fd   int
	ours uint64 // the rights on files that it judges
}

// newestABI is the newest version whose rights this package knows.
const newestABI = 7

// Rights on files, by what is declared. A path that is no directory takes
// fileRights of them alone.
const (
	runRights   = unix.LANDLOCK_ACCESS_FS_EXECUTE | readRights
	readRights  = unix.LANDLOCK_ACCESS_FS_READ_FILE | unix.LANDLOCK_ACCESS_FS_READ_DIR
	writeRights = readRights | unix.LANDLOCK_ACCESS_FS_WRITE_FILE | unix.LANDLOCK_ACCESS_FS_TRUNCATE |
		unix.LANDLOCK_ACCESS_FS_MAKE_REG | unix.LANDLOCK_ACCESS_FS_MAKE_DIR | unix.LANDLOCK_ACCESS_FS_MAKE_SYM |
		unix.LANDLOCK_ACCESS_FS_REMOVE_FILE | unix.LANDLOCK_ACCESS_FS_REMOVE_DIR | unix.LANDLOCK_ACCESS_FS_REFER
	fileRights = unix.LANDLOCK_ACCESS_FS_EXECUTE | unix.LANDLOCK_ACCESS_FS_READ_FILE |
		unix.LANDLOCK_ACCESS_FS_WRITE_FILE | unix.LANDLOCK_ACCESS_FS_TRUNCATE
)

// newLandlock makes a ruleset that judges all that this kernel's Landlock can,
// and allows nothing. The error says that there is none.
func newLandlock() (*landlock, error) {
	abi, errno := try(unix.SYS_LANDLOCK_CREATE_RULESET, 0, 0, unix.LANDLOCK_CREATE_RULESET_VERSION)
	if errno != 0 {
		return nil, fmt.Errorf("the kernel has none: %w", errno)
	}
	l := &landlock{abi: min(int(abi), newestABI), ours: unix.LANDLOCK_ACCESS_FS_REFER - 1}
	var network, scopes uint64
	if l.abi >= 2 {
		l.ours |= unix.LANDLOCK_ACCESS_FS_REFER
	}
	if l.abi >= 3 {
		l.ours |= unix.LANDLOCK_ACCESS_FS_TRUNCATE
	}
	if l.abi >= 4 {
		network = unix.LANDLOCK_ACCESS_NET_BIND_TCP | unix.LANDLOCK_ACCESS_NET_CONNECT_TCP
	}
	if l.abi >= 5 {
		l.ours |= unix.LANDLOCK_ACCESS_FS_IOCTL_DEV
	}
	if l.abi >= 6 {
		scopes = unix.LANDLOCK_SCOPE_ABSTRACT_UNIX_SOCKET | unix.LANDLOCK_SCOPE_SIGNAL
	}
	attr := words(l.ours, network, scopes)
	fd, errno := try(unix.SYS_LANDLOCK_CREATE_RULESET, attr, len(attr), 0)
	if errno != 0 {
		return nil, fmt.Errorf("no ruleset: %w", errno)
	}
	l.fd = int(fd)
	return l, nil
}

// path allows rights on a file, or beneath a directory.
func (l *landlock) path(path string, rights uint64) error {
	fd, err := unix.Open(path, unix.O_PATH|unix.O_CLOEXEC, 0)
	if err != nil {
		return &os.PathError{Op: "sandbox: declared path", Path: path, Err: err}
	}
	defer unix.Close(fd)
	var st unix.Stat_t
	if err := unix.Fstat(fd, &st); err != nil {
		return &os.PathError{Op: "sandbox: declared path", Path: path, Err: err}
	}
	if st.Mode&unix.S_IFMT != unix.S_IFDIR {
		rights &= fileRights
	}
	attr := binary.NativeEndian.AppendUint32(words(rights&l.ours), uint32(fd)) // packed
	if _, errno := try(unix.SYS_LANDLOCK_ADD_RULE, l.fd, unix.LANDLOCK_RULE_PATH_BENEATH, attr, 0); errno != 0 {
		return fmt.Errorf("sandbox: landlock rule for %s: %w", path, errno)
	}
	return nil
}

// connect allows connecting to a TCP port. Before ABI 4 connections are not
// judged, and nothing is to be allowed.
func (l *landlock) connect(port int) error {
	const netPort = 2 // LANDLOCK_RULE_NET_PORT
	if l.abi < 4 {
		return nil
	}
	attr := words(unix.LANDLOCK_ACCESS_NET_CONNECT_TCP, uint64(port))
	if _, errno := try(unix.SYS_LANDLOCK_ADD_RULE, l.fd, netPort, attr, 0); errno != 0 {
		return fmt.Errorf("sandbox: landlock rule for port %d: %w", port, errno)
	}
	return nil
}

func words(values ...uint64) []byte {
	var b []byte
	for _, v := range values {
		b = binary.NativeEndian.AppendUint64(b, v)
	}
	return b
}
