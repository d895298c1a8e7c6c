package git

// person is whoever works in a checkout on a machine of their own.
type person struct {
	env      []string  // how their programs are started
	settings []setting // how the checkout's own configuration reaches the origin
	bare     string    // an empty directory in place of a working tree; "" where there is one
}
