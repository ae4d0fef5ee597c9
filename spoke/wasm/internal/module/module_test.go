package module_test

import (
	"bytes"
	"context"
	"testing"

	"github.com/stretchr/testify/require"
	"github.com/tetratelabs/wazero"
	"pgregory.net/rapid"

	"github.com/isolategpt/isolategpt/spoke/wasm/internal/module"
)

func TestEncode(t *testing.T) {
	ctx := t.Context()
	r := wazero.NewRuntimeWithConfig(ctx, wazero.NewRuntimeConfigInterpreter())
	defer func() { require.NoError(t, r.Close(context.Background())) }()
	one := []byte{module.I32}
	m, err := r.Instantiate(ctx, module.Module{Pages: 2, Table: 3, Data: []byte{1, 2, 3, 4}, Funcs: []module.Func{
		{Name: "load", Params: one, Results: one, Body: append(module.Get(0), module.Load()...)},
		{Name: "grow", Params: one, Results: one, Body: append(module.Get(0), module.Grow()...)},
		{Name: "trap", Body: module.Trap()},
		{Name: "local", Locals: 1, Results: one, Body: module.Get(0)},
		{Name: "calls", Results: one, Body: append(module.Const(0), module.Call(0)...)},
	}}.Encode())
	require.NoError(t, err)
	for name, want := range map[string]uint64{"load": 0x04030201, "grow": 2, "local": 0, "calls": 0x04030201} {
		p := make([]uint64, len(m.ExportedFunction(name).Definition().ParamTypes()))
		got, err := m.ExportedFunction(name).Call(ctx, p...)
		require.NoError(t, err)
		require.Equal(t, []uint64{want}, got, name)
	}
	_, err = m.ExportedFunction("trap").Call(ctx)
	require.ErrorContains(t, err, "unreachable")
}

func TestConst(t *testing.T) {
	ctx := t.Context()
	r := wazero.NewRuntimeWithConfig(ctx, wazero.NewRuntimeConfigInterpreter())
	defer func() { require.NoError(t, r.Close(context.Background())) }()
	rapid.Check(t, func(rt *rapid.T) {
		v := rapid.Int32().Draw(rt, "v")
		code := module.Module{Pages: 1, Funcs: []module.Func{{Name: "f", Results: []byte{module.I32}, Body: module.Const(v)}}}.Encode()
		m, err := r.InstantiateWithConfig(ctx, code, wazero.NewModuleConfig().WithName(""))
		require.NoError(rt, err)
		got, err := m.ExportedFunction("f").Call(ctx)
		require.NoError(rt, err)
		require.Equal(rt, v, int32(got[0]))
		require.NoError(rt, m.Close(ctx))
	})
}

func TestEncodeIsReadable(t *testing.T) {
	require.True(t, bytes.HasPrefix(module.Module{}.Encode(), []byte("\x00asm\x01\x00\x00\x00")))
}
