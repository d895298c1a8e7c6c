// Package tools is an example of a nested module.
package tools
