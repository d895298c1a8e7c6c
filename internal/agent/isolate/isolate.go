// Package isolate starts the processes of agents and tests: with limits, without privileges, and kept from what they must not reach.
//
// The program executes itself once more. That process gives up what the agent must not have, and then becomes the agent. It has
// to be the same process, because nobody can impose resource limits and no_new_privs on another one.
//
// A program that links this package and is called with Word as its only argument becomes the isolator before most of its packages
// are initialized. So it costs three milliseconds and not ten, and nothing that main does can come in between. (Go initializes a
// package as soon as all its imports are, in the order of their names. So this package imports little, and nothing that begins
// with a late letter.)
//
// It reads its Spec from standard input. The rest of the input is the agent's. Arguments and the environment would not do:
// everybody on the machine can read arguments, and sudo changes the environment (secure_path, env_reset, env_check).
package isolate

import (
	"encoding/binary"
	"encoding/json"
	"errors"
	"fmt"
	"io"
)

// Word is the argument that makes a process the isolator.
const Word = "__wall"

// Refused is its exit code when it did not become the agent. Why stands on standard error, behind the Spec's Sign.
const Refused = 126

// Task is what the isolator is for.
type Task string

// The tasks.
const (
	Run   Task = "run"   // become a program
	End   Task = "end"   // send a signal to every process of the user that it runs as
	Reach Task = "reach" // print the first of some directories that this user cannot get to, or nothing
	Look  Task = "look"  // print which of some processes this user can read the environment of
	Own   Task = "own"   // give files to another owner
	Pass  Task = "pass"  // let a user pass through a directory, or no more
	Keep  Task = "keep"  // be there for a user until mergexo is done with it, or has ended
)

// Spec says what to do.
type Spec struct {
	Task Task
	// Sign is written to standard error in a line of its own once the isolator stands, and again, with what went wrong behind
	// it, if the program then could not be executed. Nobody can guess it.
	Sign string
	As   User
	// Parent is the process that has to be the parent, for as long as the agent lives; 0: not known.
	Parent int
	// Namespace: the process was started in user, PID and mount namespaces of its own, and stays their first process; the
	// program runs below it. nil: it was not.
	Namespace *Namespace
	// View: the program finds this of the file system, in a mount and an IPC namespace and no others. Making it takes root. nil: all of it,
	// or what Namespace says.
	View *Namespace
	// Network: the program has a network of its own. nil: it has the machine's. Making it takes root, or Namespace.
	Network *Network

	// What to become. Bytes, because not every argument is UTF-8.
	Path string
	Argv [][]byte
	Env  [][]byte

	Signal    int
	Dirs      []string
	Processes []int
	Owners    Owners
	Way       Way
	Lock      bool // only one at a time keeps the user
}

// Busy and Kept are what Keep prints, each in a line: that another one keeps the user, and that this one does.
const (
	Busy = "busy"
	Kept = "kept"
)

// Keeping is what Keep reads behind the Spec, any number of times.
type Keeping struct {
	Shared []File // of Owners
	Over   bool   // mergexo is done with the user
}

// Namespace is what a program in namespaces of its own finds of the file system. All of it is read-only but Write. Paths
// are absolute.
type Namespace struct {
	Write []string // directories as they are
	Hide  []string // directories that are empty, and gone afterwards
	Show  []string // directories and files inside hidden ones, read-only
	Cover []string // files that nobody gets to, if they are there: sockets
}

// Network is a network with nothing in it but the loopback device.
type Network struct {
	// Socket is the name of an abstract socket of the machine's network at which somebody waits for the new one's listeners,
	// in the order of Ports, and for its counters, open files of /proc/net. "": nobody does.
	Socket string
	Ports  []int // TCP, on 127.0.0.1
}

// Way is a directory that a user may pass through, by an entry of that user's in its access control list.
type Way struct {
	Dir  string
	UID  int
	Back bool // no more
}

// User is whom to be.
type User struct {
	UID, GID int
	Groups   []int
	// Become: change to it. Else sudo has done so, and it is only looked whether it has.
	Become bool
	// Tasks is how many processes and threads the user may have in all; 0: any number. For root the kernel does not count.
	Tasks uint64
}

// Owners is who gives what to whom. Only what belongs to From is touched.
type Owners struct {
	From, To           int // uid
	FromGroup, ToGroup int
	// Back: the files come back from somebody who may have made them unreadable, or worse.
	Back bool
	// Shared are files with other names elsewhere, as Chown found them on the way there.
	Shared []File
	// Unknown: nobody can tell Shared any more. Then a file with other names stays as it is, unless From owns it.
	Unknown bool
}

// File is one file of this machine.
type File struct{ Device, Inode uint64 }

const maxSpec = 64 << 20

// Seal makes the bytes that stand before everything else on the isolator's standard input.
func Seal(l Spec) ([]byte, error) {
	text, err := json.Marshal(l)
	if err != nil {
		return nil, fmt.Errorf("write to the isolator: %w", err)
	}
	return append(binary.BigEndian.AppendUint32(nil, uint32(len(text))), text...), nil //nolint:gosec // far less than 4 GiB
}

// open reads a Spec and not one byte more.
func open(r io.Reader) (l Spec, err error) {
	var size [4]byte
	if _, err := io.ReadFull(r, size[:]); err != nil {
		return l, fmt.Errorf("read what to do: %w", err)
	}
	n := binary.BigEndian.Uint32(size[:])
	if n > maxSpec {
		return l, errors.New("read what to do: this is for mergexo itself, not for people")
	}
	text := make([]byte, n)
	if _, err := io.ReadFull(r, text); err != nil {
		return l, fmt.Errorf("read what to do: %w", err)
	}
	if err := json.Unmarshal(text, &l); err != nil {
		return l, fmt.Errorf("read what to do: %w", err)
	}
	return l, nil
}

// Bytes makes of arguments what a Spec holds.
func Bytes(list []string) [][]byte {
	out := make([][]byte, len(list))
	for i, s := range list {
		out[i] = []byte(s)
	}
	return out
}

func texts(list [][]byte) []string {
	out := make([]string, len(list))
	for i, b := range list {
		out[i] = string(b)
	}
	return out
}
