// Command schemas.d implements scripts/schemas: it cuts GitHub's published descriptions down to what the sandbox serves.
//
// It is Go and not a script around a JSON tool because a cut must stand on its own. Whatever a kept field or operation refers to
// is kept too, and something that GitHub's description lacks is an error here instead of a surprise in a test.
package main

import (
	"fmt"
	"os"
)

const usage = "usage: schemas.d graphql SCHEMA.graphql FIELDS OUT | schemas.d openapi API.json OPERATIONS OUT"

func main() {
	if err := run(os.Args[1:]); err != nil {
		fmt.Fprintln(os.Stderr, "schemas:", err)
		os.Exit(1)
	}
}

// run writes one cut. The output is the same, byte for byte, for the same inputs.
func run(args []string) error {
	if len(args) != 4 {
		return fmt.Errorf("%s", usage)
	}
	var text []byte
	var err error
	switch args[0] {
	case "graphql":
		text, err = trimGraphQL(args[1], args[2])
	case "openapi":
		text, err = trimOpenAPI(args[1], args[2])
	default:
		return fmt.Errorf("%s", usage)
	}
	if err != nil {
		return err
	}
	return os.WriteFile(args[3], text, 0o644)
}
