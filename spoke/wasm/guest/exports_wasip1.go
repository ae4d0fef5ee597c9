package guest

import (
	"runtime"

	"github.com/isolategpt/isolategpt/spoke/wasm/internal/frame"
)

//go:wasmimport isolategpt exchange
func exchange(in *byte, inLen uint32, out *byte, outCap uint32) uint32

// outside is the host that the module runs in.
func outside(up []byte) []byte {
	buf := make([]byte, 4<<10)
	var in *byte
	if len(up) > 0 {
		in = &up[0]
	}
	n := exchange(in, uint32(len(up)), &buf[0], uint32(len(buf)))
	runtime.KeepAlive(up)
	if n > frame.MaxDown {
		return nil
	}
	if int(n) > len(buf) {
		buf = make([]byte, n)
		n = min(n, exchange(nil, 0, &buf[0], uint32(len(buf))))
	}
	return buf[:n]
}

//go:wasmexport isolategpt_manifest
func exportManifest() {
	if err := host(outside).describe(served.Load()); err != nil {
		panic(err)
	}
}

//go:wasmexport isolategpt_handle
func exportHandle() {
	if err := host(outside).handle(served.Load(), outside(nil)); err != nil {
		panic(err)
	}
}
