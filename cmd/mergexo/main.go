// Command mergexo lets people steer coding agents from GitHub. Package cli has its commands.
package main

import (
	"os"

	"github.com/mergexo/mergexo/internal/cli"
)

func main() { os.Exit(cli.Main(os.Args, cli.Streams{In: os.Stdin, Out: os.Stdout, Err: os.Stderr})) }
