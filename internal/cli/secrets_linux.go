package cli

import (
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"strconv"
	"syscall"
)

// secretsFD is the variable that tells the re-executed program the descriptor of the secrets.
const secretsFD = "MERGEXO_SECRETS_FD"

// pipeHolds is how many bytes a pipe takes before anybody reads it: https://man7.org/linux/man-pages/man7/pipe.7.html
const pipeHolds = 1 << 16

// takeSecrets removes the secrets from the environment block. Unsetting a variable leaves it readable in /proc/PID/environ
// for every process of the same user, agents included. So the program re-executes itself with a clean block, and passes the
// secrets through a pipe.
func takeSecrets() (secrets, error) {
	if fd, ok := os.LookupEnv(secretsFD); ok {
		s, err := receiveSecrets(fd)
		return s, errors.Join(err, closeProcess())
	}
	s, found := readSecrets()
	if !found {
		return s, closeProcess()
	}
	r, w, err := os.Pipe()
	if err != nil {
		return s, err
	}
	text, err := json.Marshal(s)
	if err == nil && len(text) > pipeHolds {
		err = errors.New("the secrets are too long")
	}
	if err == nil {
		_, err = w.Write(text)
	}
	if err != nil {
		return s, err
	}
	if err := w.Close(); err != nil {
		return s, err
	}
	if _, _, errno := syscall.RawSyscall(syscall.SYS_FCNTL, r.Fd(), syscall.F_SETFD, 0); errno != 0 {
		return s, fmt.Errorf("keep the pipe open: %w", errno)
	}
	self, err := os.Executable()
	if err != nil {
		return s, err
	}
	env := append(withoutSecrets(os.Environ()), secretsFD+"="+strconv.Itoa(int(r.Fd())))
	return s, fmt.Errorf("execute %s again: %w", self, syscall.Exec(self, os.Args, env))
}

func receiveSecrets(fd string) (s secrets, err error) {
	if err := os.Unsetenv(secretsFD); err != nil {
		return s, err
	}
	n, err := strconv.Atoi(fd)
	if err != nil {
		return s, fmt.Errorf("%s: %w", secretsFD, err)
	}
	f := os.NewFile(uintptr(n), "secrets")
	if f == nil {
		return s, fmt.Errorf("%s: no such file descriptor", secretsFD)
	}
	defer f.Close()
	if err := json.NewDecoder(f).Decode(&s); err != nil {
		return s, fmt.Errorf("read the secrets: %w", err)
	}
	return s, nil
}

// closeProcess denies processes of the same user access to /proc/PID: memory, descriptors, and the environment block, which
// may hold secrets that we do not know of. Other users never have access
// (https://man7.org/linux/man-pages/man2/PR_SET_DUMPABLE.2const.html).
func closeProcess() error {
	const notDumpable = 0
	if _, _, errno := syscall.RawSyscall(syscall.SYS_PRCTL, syscall.PR_SET_DUMPABLE, notDumpable, 0); errno != 0 {
		return fmt.Errorf("prctl PR_SET_DUMPABLE: %w", errno)
	}
	return nil
}
