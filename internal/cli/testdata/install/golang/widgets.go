// Package widgets is an example.
package widgets
