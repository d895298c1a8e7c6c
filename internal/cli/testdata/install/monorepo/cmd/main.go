// Command cmd is an example of a module beside others.
package main

func main() {}
