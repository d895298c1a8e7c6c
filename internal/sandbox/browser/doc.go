// Package browser lets tests look at pages in a real browser that reaches nothing but this machine. Only tests import it, with
// the build tag browser.
package browser
