//go:build all

package agent_test

import "testing"

// It got away in four of six runs once. These are five for each row.
func TestNothingOfTwentySwarmsIsLeft(t *testing.T) {
	if !rooted(t) {
		return
	}
	swarms(t, 5)
}
