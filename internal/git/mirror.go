package git

import (
	"context"
	"errors"
	"fmt"
)

// ErrNameTaken says that a ref cannot be made since another one is in the way: x/y beside x, or x beside x/y.
type ErrNameTaken struct {
	Ref   string
	Other string // the one in the way; "" where the server does not say
}

func (e *ErrNameTaken) Error() string {
	return fmt.Sprintf("%s cannot be made beside %s", e.Ref, e.Other)
}

// Mirror puts a commit that the server has under from (refs/pull/7/head) on a new branch, or moves the branch ahead.
func (c *Checkout) Mirror(ctx context.Context, from, sha, branch, at string) error {
	return errors.New("not built yet")
}
