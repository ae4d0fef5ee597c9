package module_test

import (
	"bytes"
	"context"
	"slices"
	"testing"

	"github.com/stretchr/testify/require"
	"github.com/tetratelabs/wazero"
	"github.com/tetratelabs/wazero/api"
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

// TestPreparedModulesDoTheSame holds that nothing but the checkpoints changes.
func TestPreparedModulesDoTheSame(t *testing.T) {
	ctx := t.Context()
	r := wazero.NewRuntimeWithConfig(ctx, wazero.NewRuntimeConfigInterpreter().WithCoreFeatures(api.CoreFeaturesV2&^api.CoreFeatureReferenceTypes))
	defer func() { require.NoError(t, r.Close(context.Background())) }()
	run := func(rt *rapid.T, code []byte) uint64 {
		m, err := r.InstantiateWithConfig(ctx, code, wazero.NewModuleConfig().WithName(""))
		require.NoError(rt, err)
		got, err := m.ExportedFunction("f").Call(ctx)
		require.NoError(rt, err)
		require.NoError(rt, m.Close(ctx))
		return got[0]
	}
	rapid.Check(t, func(rt *rapid.T) {
		code := module.Module{Pages: 1, Data: []byte{1, 2, 3, 4, 5, 6, 7, 8}, Funcs: []module.Func{
			empty, {Name: "f", Results: one, Locals: 2, Body: expression(rt, 6)},
		}}.Encode()
		prepared, err := module.Prepare(code, enough)
		require.NoError(rt, err)
		require.Equal(rt, run(rt, code), run(rt, prepared))
	})
}

// expression draws code that leaves one number.
func expression(rt *rapid.T, depth int) []byte {
	if depth == 0 {
		return module.Const(rapid.Int32Range(-9, 99).Draw(rt, "number"))
	}
	sub := func() []byte { return expression(rt, rapid.IntRange(0, depth-1).Draw(rt, "depth")) }
	local := module.Uint(rapid.Uint32Range(0, 1).Draw(rt, "local"))
	mask := slices.Concat(module.Const(255), []byte{0x71}) // and: an address
	switch rapid.IntRange(0, 8).Draw(rt, "kind") {
	case 0:
		return slices.Concat(sub(), sub(), []byte{0x6a})
	case 1:
		return slices.Concat(sub(), sub(), sub(), []byte{0x1b})
	case 2:
		return slices.Concat(sub(), []byte{0x21}, local, []byte{0x20}, local)
	case 3:
		return slices.Concat([]byte{0x02, 0x7f}, sub(), sub(), []byte{0x0d, 0, 0x0b})
	case 4:
		return slices.Concat(sub(), []byte{0x04, 0x7f}, sub(), []byte{0x0c, 0, 0x05}, sub(), []byte{0x0b})
	case 5:
		return slices.Concat(sub(), mask, sub(), sub(), mask, []byte{0xfc, 0x0b, 0x00}, sub())
	case 6:
		return slices.Concat(sub(), mask, module.Load())
	case 7:
		return slices.Concat([]byte{0x02, 0x7f}, sub(), []byte{0x0f, 0x1a, 0x41, 0, 0x0b}) // return, and what nothing gets to
	default:
		return slices.Concat([]byte{0x02, 0x7f, 0x02, 0x40, 0x02, 0x40}, sub(), []byte{0x0e, 1, 0, 1, 0x0b, 0x0b}, sub(), []byte{0x0b})
	}
}
