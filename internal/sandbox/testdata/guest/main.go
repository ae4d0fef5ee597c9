// Guest is a program that a confined process becomes. It tries what it is told on
// its command line and prints, a line each, the word and "ok" or the error.
package main

import (
	"errors"
	"fmt"
	"net"
	"os"
	"os/exec"
	"runtime"
	"strings"
	"sync"
	"syscall"
	"time"
)

// init keeps the first thread, which is the one that executed this program.
func init() { runtime.LockOSThread() }

func main() {
	for _, arg := range os.Args[1:] {
		word, value, _ := strings.Cut(arg, "=")
		if err := try(word, value); err != nil {
			fmt.Println(arg, err)
			continue
		}
		fmt.Println(arg, "ok")
	}
}

func try(word, value string) error {
	switch word {
	case "read":
		_, err := os.ReadFile(value)
		return err
	case "list":
		_, err := os.ReadDir(value)
		return err
	case "stat":
		_, err := os.Stat(value)
		return err
	case "write":
		return os.WriteFile(value, []byte("x"), 0o600)
	case "dial":
		conn, err := net.DialTimeout("tcp", value, time.Second)
		if err == nil {
			err = conn.Close()
		}
		return err
	case "listen":
		l, err := net.Listen("tcp", value)
		if err == nil {
			err = l.Close()
		}
		return err
	case "run":
		return exec.Command(value).Run()
	case "become":
		return syscall.Exec(value, []string{value}, nil)
	case "env":
		if len(os.Environ()) != 1 || os.Getenv("A") != "b" {
			return fmt.Errorf("%q", os.Environ())
		}
		return nil
	case "dir":
		dir, err := os.Getwd()
		if err == nil && dir != value {
			err = errors.New(dir)
		}
		return err
	case "open": // a descriptor
		var fd int
		if _, err := fmt.Sscan(value, &fd); err != nil {
			return err
		}
		return syscall.SetNonblock(fd, false)
	case "pipe": // a descriptor that is one
		var fd int
		if _, err := fmt.Sscan(value, &fd); err != nil {
			return err
		}
		var st syscall.Stat_t
		if err := syscall.Fstat(fd, &st); err != nil {
			return err
		}
		if st.Mode&syscall.S_IFMT != syscall.S_IFIFO {
			return errors.New("none")
		}
		return nil
	case "work":
		return work()
	case "execute": // from a thread that was never told to end with anybody
		return onFreshThread(func() error { return syscall.Exec(value, []string{value}, nil) })
	case "outlive":
		err := onFreshThread(func() error { return syscall.Exec(value, []string{value, "outlived"}, nil) })
		_, _ = syscall.Write(4, []byte(err.Error()))
		select {}
	case "outlived":
		_, _ = syscall.Write(4, []byte(word))
		time.Sleep(20 * time.Second) // the test is over by then
		return nil
	}
	return trySystem(word, value)
}

func onFreshThread(f func() error) error {
	result := make(chan error)
	for range 4 {
		go func() {
			runtime.LockOSThread()
			if syscall.Gettid() == syscall.Getpid() {
				select {}
			}
			result <- f()
		}()
	}
	return <-result
}

func work() error {
	var all sync.WaitGroup
	for range 50 {
		all.Go(func() {
			runtime.LockOSThread()
			time.Sleep(time.Millisecond)
		})
	}
	all.Wait()
	runtime.GC()
	return nil
}
