//go:build all

package engine_test

func init() { everyRow = true }
