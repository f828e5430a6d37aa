package main

import (
	"bufio"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"strings"

	"github.com/spf13/cobra"
	"golang.org/x/term"

	"github.com/weftgraph/weft"
	"github.com/weftgraph/weft/internal/disk"
	"github.com/weftgraph/weft/internal/serve"
	"github.com/weftgraph/weft/internal/vfs"
)

// userFlags are those of weft user add.
type userFlags struct {
	users string
	token bool
	serve.Rights
	serve.Quota
	memory string // of Quota
}

func (a *app) userCmd() *cobra.Command {
	cmd := &cobra.Command{
		Use:   "user",
		Short: "make users for weft serve",
		RunE:  func(cmd *cobra.Command, _ []string) error { return cmd.Help() },
	}
	var f userFlags
	add := &cobra.Command{
		Use:   "add --users FILE NAME [flags]",
		Short: "add a user with a password, or a token of a user",
		Long: `Add a user to a file for weft serve --users. The password is read from standard
input: on a terminal twice, without showing it. The file has a hash of it alone.

With --token a token is made instead, and written to standard output. It is shown this
once. A user may have several.

For a user in the file, the command changes the password, and the rights and limits whose
flags are given. A new token has the rights and limits of its user, except where flags say
otherwise. --graphs '' and --admin=false take rights away. Other tokens stay as they are;
remove the line of one to withdraw it. A running weft serve reads the file after SIGHUP.

` + exitCodesNoTimeout,
		Example: `  weft user add --users users.jsonl ana --graphs payments,people
  weft user add --users users.jsonl prometheus --metrics --token
  weft user add --users users.jsonl root --graphs '*' --admin < password.txt`,
		Args: takes("NAME"),
		RunE: func(cmd *cobra.Command, args []string) error { return a.addUser(&f, cmd.Flags().Changed, args[0]) },
	}
	fs := add.Flags()
	fs.StringVar(&f.users, "users", "", "`FILE` of users; made if there is none")
	fs.BoolVar(&f.token, "token", false, "make a token instead of reading a password")
	fs.StringSliceVar(&f.Graphs, "graphs", nil, "`NAMES` of the graphs that the user may read, with commas; '*' is all")
	fs.BoolVar(&f.Metrics, "metrics", false, "the user may read /metrics")
	fs.BoolVar(&f.Admin, "admin", false, "the user may add, reload and drop graphs, and see and cancel the queries of others")
	fs.IntVar(&f.Running, "running", 0, "run at most `N` queries of the user at the same time; 0 means as the server says")
	fs.Float64Var(&f.Seconds, "seconds", 0, "cut the user's queries short after `N` seconds; 0 means as the server says")
	fs.Int64Var(&f.Rows, "rows", 0, "cut the user's results short after `N` rows; 0 means as the server says")
	fs.StringVar(&f.memory, "memory", "", "let the queries of the user take at most `MEMORY` (64M) at the same time, the answers of the user's jobs as much, and a compiler as much; '' means as the server says")
	cmd.AddCommand(add)
	return cmd
}

// keep fills in the rights and limits that no flag gives: those that the user has.
func (f *userFlags) keep(given func(flag string) bool, has serve.Account) {
	for flag, keep := range map[string]func(){
		"graphs": func() { f.Graphs = has.Graphs }, "metrics": func() { f.Metrics = has.Metrics }, "admin": func() { f.Admin = has.Admin },
		"running": func() { f.Running = has.Running }, "seconds": func() { f.Seconds = has.Seconds }, "rows": func() { f.Rows = has.Rows },
		"memory": func() { f.Memory = has.Memory },
	} {
		if !given(flag) {
			keep()
		}
	}
}

// accountOf is the user's account with a password, or that of the newest token without one.
func accountOf(all []serve.Account, name string) (found serve.Account) {
	for _, x := range all {
		if x.User == name && (x.Token == "" || found.User == "" || found.Token != "") {
			found = x
		}
	}
	return found
}

func (a *app) addUser(f *userFlags, given func(flag string) bool, name string) error {
	if f.users == "" {
		return usagef("no file of users: name one with --users")
	}
	if err := serve.CheckUser(name); err != nil {
		return usagef("%v", err)
	}
	if f.Running < 0 || f.Seconds < 0 || f.Rows < 0 {
		return usagef("--running, --seconds and --rows cannot be negative")
	}
	var err error
	if f.Memory, err = parseBytes(f.memory); err != nil || f.Memory < 0 {
		return usagef("--memory: want a number of bytes, as 64M")
	}
	files := vfs.From(a.ctx)
	old, err := vfs.ReadFile(files, f.users)
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return kindf(weft.ErrInput, "--users: %w", err)
	}
	all, err := serve.ParseAccounts(old)
	if err != nil {
		return kindf(weft.ErrInput, "--users %s: %w", f.users, err)
	}
	f.keep(given, accountOf(all, name))
	account, token := serve.Account{User: name, Rights: f.Rights, Quota: f.Quota}, ""
	if f.token {
		token, account = serve.NewToken(name, f.Rights, f.Quota)
	} else {
		password, err := a.password()
		if err != nil {
			return err
		}
		account.Hash = serve.HashSecret(password)
	}
	var out strings.Builder
	for line := range strings.Lines(string(old)) {
		var was serve.Account
		if json.Unmarshal([]byte(line), &was) == nil && !f.token && was.Token == "" && was.User == name {
			continue
		}
		out.WriteString(strings.TrimRight(line, "\r\n") + "\n")
	}
	line, err := json.Marshal(account)
	if err != nil {
		return err
	}
	out.Write(line)
	out.WriteString("\n")
	return writeSecret(a.ctx, f.users, out.String(), func() error {
		if token == "" {
			return nil
		}
		_, err := fmt.Fprintln(a.text, token)
		return err
	})
}

// writeSecret replaces a file's text. A new file may be read by this user alone; an old one keeps its permissions. It calls tell when nothing but the
// change of names is left; if tell fails, the file stays as it was.
func writeSecret(ctx context.Context, name, text string, tell func() error) (err error) {
	files := vfs.From(ctx)
	if _, none := files.Stat(name); errors.Is(none, fs.ErrNotExist) {
		if err := vfs.WriteFile(files, name, nil, 0o600); err != nil {
			return err
		}
		defer func() {
			if err != nil {
				_ = files.Remove(name)
			}
		}()
	}
	out, err := disk.Create(ctx, files, name)
	if err != nil {
		return err
	}
	if _, err = io.WriteString(out, text); err == nil {
		err = out.Settle()
	}
	if err == nil {
		err = tell()
	}
	if err != nil {
		out.Abort()
		return err
	}
	return out.Commit()
}

// leastPassword is the number of characters of the shortest password.
const leastPassword = 8

// password reads a password from a terminal, or the first line of standard input.
func (a *app) password() (string, error) {
	read := func() (string, error) {
		line, err := bufio.NewReader(io.LimitReader(a.stdin, 4096)).ReadString('\n')
		if err != nil && !(errors.Is(err, io.EOF) && line != "") {
			return "", usagef("standard input has no password")
		}
		return strings.TrimRight(line, "\r\n"), nil
	}
	if file, ok := a.stdin.(*os.File); ok && term.IsTerminal(int(file.Fd())) {
		read = func() (string, error) {
			var both [2]string
			for i, prompt := range []string{"Password: ", "The same again: "} {
				fmt.Fprint(a.stderr, prompt)
				b, err := term.ReadPassword(int(file.Fd()))
				fmt.Fprintln(a.stderr)
				if err != nil {
					return "", err
				}
				both[i] = string(b)
			}
			if both[0] != both[1] {
				return "", usagef("the two passwords differ")
			}
			return both[0], nil
		}
	}
	password, err := read()
	if err == nil && len([]rune(password)) < leastPassword {
		err = usagef("the password has fewer than %d characters", leastPassword)
	}
	return password, err
}
