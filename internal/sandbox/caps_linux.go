//go:build linux && (amd64 || arm64)

package sandbox

import (
	"encoding/binary"
	"runtime"

	"golang.org/x/sys/unix"
)

// Bits that keep the user 0 from being more than any other, for good.
const secureBits = 0x01 | 0x02 | // NOROOT, locked
	0x04 | 0x08 | // NO_SETUID_FIXUP, locked
	0x20 | // no KEEP_CAPS, locked
	0x40 | 0x80 // NO_CAP_AMBIENT_RAISE, locked

// dropCaps empties every set of capabilities of all threads but the bounding one,
// which has no say once nothing can be gained by executing: the user 0 is nobody
// special, and there are no new privileges. Empty sets empty the ambient one.
func dropCaps(t *threads) error {
	held, err := capabilities()
	if err != nil {
		return err
	}
	if held.Permitted&(1<<unix.CAP_SETPCAP) != 0 && held.Effective&(1<<unix.CAP_SETPCAP) != 0 {
		if err := t.each("secure bits", unix.SYS_PRCTL, unix.PR_SET_SECUREBITS, secureBits); err != nil {
			return err
		}
	}
	var pins runtime.Pinner
	defer pins.Unpin()
	header := binary.NativeEndian.AppendUint64(nil, unix.LINUX_CAPABILITY_VERSION_3) // and the pid 0: the calling thread
	return t.each("no capabilities", unix.SYS_CAPSET, address(&pins, header), address(&pins, make([]byte, 24)))
}

func capabilities() (unix.CapUserData, error) {
	header := unix.CapUserHeader{Version: unix.LINUX_CAPABILITY_VERSION_3}
	var data [2]unix.CapUserData
	err := unix.Capget(&header, &data[0])
	return data[0], err
}
