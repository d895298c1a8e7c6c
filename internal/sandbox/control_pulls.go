package sandbox

func setPulls(q *request) (any, error) { return nil, errNotFound }
