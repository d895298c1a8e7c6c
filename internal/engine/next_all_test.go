//go:build all

package engine

func init() { generated = 100_000 }
