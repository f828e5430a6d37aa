package serve

import (
	"bufio"
	"bytes"
	"context"
	"crypto/hmac"
	"crypto/rand"
	"crypto/sha256"
	"crypto/subtle"
	"encoding/base64"
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"golang.org/x/crypto/argon2"

	"github.com/weftgraph/weft/internal/vfs"
)

// Rights say what a user may do.
type Rights struct {
	Graphs  []string `json:"graphs,omitempty"`  // that the user may read; "*" is all
	Metrics bool     `json:"metrics,omitempty"` // read /metrics
	Admin   bool     `json:"admin,omitempty"`   // add, reload and drop graphs; list and cancel the queries of others
}

// Quota are a user's own limits. 0 means those of the server. A quota above the server's limit has no effect.
type Quota struct {
	Running int     `json:"running,omitempty"` // queries at the same time
	Seconds float64 `json:"seconds,omitempty"` // of one query
	Rows    int64   `json:"rows,omitempty"`    // of one result
	// Memory is the number of bytes that all searches and programs of the user have at the same time, as memory.Account counts them. The answers of the
	// user's jobs may have as many besides, and so may a compiler.
	Memory int64 `json:"memory,omitempty"`
}

// Identity is a user whose credentials were right.
type Identity struct {
	Name string // "" without users
	Rights
	Quota

	by credential // that were right; zero without users
}

// credential is an account without its rights.
type credential struct{ user, token, hash string }

func (a Account) credential() credential { return credential{a.User, a.Token, a.Hash} }

// identity is the user of an account.
func (a Account) identity() Identity {
	return Identity{Name: a.User, Rights: a.Rights, Quota: a.Quota, by: a.credential()}
}

// Anyone is the identity of every client of a server without users.
func Anyone() Identity {
	return Identity{Rights: Rights{Graphs: []string{"*"}, Metrics: true, Admin: true}}
}

// May reports whether the user may read a graph.
func (id Identity) May(graph string) bool {
	return slices.Contains(id.Graphs, "*") || slices.Contains(id.Graphs, graph)
}

// Account is a line of a file of users: a name with a hashed password, or a token with the hash of its secret part.
type Account struct {
	User  string `json:"user"`
	Token string `json:"token,omitempty"` // the public part of a token; "" for a password
	Hash  string `json:"hash"`
	Rights
	Quota
}

// Users are the accounts of a file. Safe for concurrent use.
type Users struct {
	passwords, tokens map[string]Account
	dummy             string        // a hash that no password has
	key               []byte        // of remembered credentials
	hashing           chan struct{} // its places are the hashes that are computed at the same time
	waiting           atomic.Int64  // clients that wait for such a place
	failures          *failures
	clock             func() time.Time // of failures

	mu     sync.Mutex
	good   map[[sha256.Size]byte]Identity // credentials that were right
	checks map[[sha256.Size]byte]*check   // credentials that are compared now
}

// Limits of credentials.
const (
	mostRemembered = 4096
	mostSecret     = 1024 // bytes
	mostName       = 200  // bytes
	mostAccount    = mostName + len(tokenAccount)
	mostHashing    = 2
	mostWaiting    = 128 // clients that wait for a hash
)

// ReadUsers reads a file of users: a line of JSON for each account. Empty lines and those that begin with # are comments.
func ReadUsers(ctx context.Context, path string) (*Users, error) {
	text, err := vfs.ReadFile(vfs.From(ctx), path)
	if err != nil {
		return nil, err
	}
	accounts, err := ParseAccounts(text)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", path, err)
	}
	if len(accounts) == 0 {
		return nil, fmt.Errorf("%s: there are no users: weft user add makes one", path)
	}
	return NewUsers(accounts)
}

// ParseAccounts reads the text of a file of users.
func ParseAccounts(text []byte) (out []Account, err error) {
	s := bufio.NewScanner(bytes.NewReader(text))
	for n := 1; s.Scan(); n++ {
		line := bytes.TrimSpace(s.Bytes())
		if len(line) == 0 || line[0] == '#' {
			continue
		}
		var a Account
		d := json.NewDecoder(bytes.NewReader(line))
		d.DisallowUnknownFields()
		if err := d.Decode(&a); err != nil {
			return nil, fmt.Errorf("line %d: %w", n, err)
		}
		if err := checkAccount(a); err != nil {
			return nil, fmt.Errorf("line %d: %w", n, err)
		}
		if slices.ContainsFunc(out, func(b Account) bool { return b.Token == a.Token && (a.Token != "" || b.User == a.User) }) {
			return nil, fmt.Errorf("line %d: the account is given twice", n)
		}
		out = append(out, a)
	}
	return out, s.Err()
}

func checkAccount(a Account) error {
	if err := CheckUser(a.User); err != nil {
		return err
	}
	if a.Running < 0 || a.Seconds < 0 || a.Rows < 0 {
		return fmt.Errorf("user %s: running, seconds, rows and memory cannot be negative", a.User)
	}
	_, err := parseHash(a.Hash)
	if err != nil {
		return fmt.Errorf("user %s: %w", a.User, err)
	}
	return nil
}

// CheckUser returns an error unless a user may have this name.
func CheckUser(user string) error {
	if user == "" || len(user) > mostName || strings.ContainsAny(user, ": \t\r\n") {
		return fmt.Errorf("%q is not a name of a user: want 1 to %d bytes without blanks and colons", user, mostName)
	}
	return nil
}

// NewUsers makes users of accounts.
func NewUsers(accounts []Account) (*Users, error) {
	u := &Users{
		passwords: map[string]Account{}, tokens: map[string]Account{}, key: make([]byte, 32), good: map[[sha256.Size]byte]Identity{},
		hashing: make(chan struct{}, mostHashing), clock: time.Now, failures: &failures{of: map[failureKey]*failed{}},
		checks: map[[sha256.Size]byte]*check{},
	}
	for _, a := range accounts {
		if err := checkAccount(a); err != nil {
			return nil, err
		}
		if a.Token != "" {
			u.tokens[a.Token] = a
		} else {
			u.passwords[a.User] = a
		}
	}
	_, _ = rand.Read(u.key)
	u.dummy = HashSecret(rand.Text())
	return u, nil
}

// Len is the number of accounts.
func (u *Users) Len() int { return len(u.passwords) + len(u.tokens) }

// account returns the account of a credential, unless it was removed or has another password or secret.
func (u *Users) account(c credential) (Account, bool) {
	a, ok := u.passwords[c.user]
	if c.token != "" {
		a, ok = u.tokens[c.token]
	}
	return a, ok && a.credential() == c
}

// inherit takes over what earlier users are remembered for: attempts with wrong credentials, and credentials that were right, of accounts
// that are still there. They have the rights that they have now. Nobody may use u yet.
func (u *Users) inherit(from *Users) {
	u.failures, u.key = from.failures, from.key
	from.mu.Lock()
	defer from.mu.Unlock()
	for sum, id := range from.good {
		if a, ok := u.account(id.by); ok {
			u.good[sum] = a.identity()
		}
	}
}

// Password returns the user with a name and a password. address is where the client is. It blocks while others' passwords are hashed.
//
// The time that it takes does not tell whether the user exists. After several wrong attempts with a name from an address, further ones are
// refused for a while. So are those after many from an address, or with a name from anywhere. Credentials that were right before are still
// taken.
func (u *Users) Password(ctx context.Context, address, user, password string) (Identity, error) {
	if CheckUser(user) != nil {
		return Identity{}, wrongCredentials()
	}
	a, ok := u.passwords[user]
	return u.check(ctx, address, user, "p\x00"+user+"\x00"+password, password, a, ok)
}

// Token returns the user of a token, as Password does.
func (u *Users) Token(ctx context.Context, address, token string) (Identity, error) {
	public, secret, _ := strings.Cut(strings.TrimPrefix(token, tokenMark), "_")
	a, ok := u.tokens[public]
	return u.check(ctx, address, tokenAccount+public, "t\x00"+token, secret, a, ok && strings.HasPrefix(token, tokenMark))
}

// tokenMark begins all tokens, so that people and programs that look for secrets in texts know them.
const tokenMark = "weft_"

// tokenAccount begins the accounts of tokens. No name of a user has a blank.
const tokenAccount = "token "

func (u *Users) check(ctx context.Context, address, account, known, secret string, a Account, exists bool) (Identity, error) {
	if len(secret) > mostSecret || len(account) > mostAccount { // nobody has them
		return Identity{}, wrongCredentials()
	}
	mac := hmac.New(sha256.New, u.key)
	mac.Write([]byte(known))
	var sum [sha256.Size]byte
	mac.Sum(sum[:0])
	for {
		u.mu.Lock()
		if id, ok := u.good[sum]; ok {
			u.mu.Unlock()
			return id, nil
		}
		other := u.checks[sum]
		if other == nil {
			break
		}
		u.mu.Unlock()
		select {
		case <-other.done:
		case <-ctx.Done():
			return Identity{}, context.Cause(ctx)
		}
		if other.known {
			return other.id, other.err
		}
	}
	c := &check{done: make(chan struct{})}
	u.checks[sum] = c
	u.mu.Unlock()
	c.id, c.err = u.compare(ctx, address, account, secret, a, exists)
	c.known = ctx.Err() == nil
	u.mu.Lock()
	defer u.mu.Unlock()
	delete(u.checks, sum)
	close(c.done)
	if c.err == nil {
		if len(u.good) >= mostRemembered {
			clear(u.good)
		}
		u.good[sum] = c.id
	}
	return c.id, c.err
}

// check is a comparison of credentials that others, who send the same at the same time, wait for. So all connections that a program opens at
// once count as one attempt.
type check struct {
	done  chan struct{} // closed when the fields below are set
	known bool          // the client that began it did not go before its end
	id    Identity
	err   error
}

func wrongCredentials() error { return errorf(Credentials, "wrong user, password or token") }

// compare hashes a secret. The attempt is charged before, so that attempts at the same time are not free, and given back if it is right.
func (u *Users) compare(ctx context.Context, address, account, secret string, a Account, exists bool) (Identity, error) {
	if wait := u.failures.charge(u.clock(), address, account); wait > 0 {
		e := errorf(RateLimited, "too many attempts with wrong credentials: try again in %v", max(time.Second, wait.Round(time.Second)))
		e.Retry = wait
		return Identity{}, e
	}
	if u.waiting.Add(1) > mostWaiting {
		u.waiting.Add(-1)
		u.failures.refund(address, account)
		e := errorf(QueueFull, "too many clients sign in at the same time: try again later")
		e.Retry = time.Second
		return Identity{}, e
	}
	select {
	case u.hashing <- struct{}{}:
		u.waiting.Add(-1)
	case <-ctx.Done():
		u.waiting.Add(-1)
		u.failures.refund(address, account)
		return Identity{}, context.Cause(ctx)
	}
	hash := u.dummy
	if exists {
		hash = a.Hash
	}
	right := secretMatches(hash, secret) && exists
	<-u.hashing
	if !right {
		return Identity{}, wrongCredentials()
	}
	u.failures.refund(address, account)
	return a.identity(), nil
}

// Parameters of Argon2id for new hashes: those that OWASP recommends for 19 MiB.
const (
	hashTime   = 2
	hashMemory = 19 << 10 // KiB
	hashLanes  = 1
	hashSize   = 32
	saltSize   = 16
)

// HashSecret returns the hash of a password with a new salt, in the usual text form.
func HashSecret(secret string) string {
	salt := make([]byte, saltSize)
	_, _ = rand.Read(salt)
	sum := argon2.IDKey([]byte(secret), salt, hashTime, hashMemory, hashLanes, hashSize)
	return hash{hashTime, hashMemory, hashLanes, salt, sum}.String()
}

// hash is a parsed hash of Argon2id.
type hash struct {
	time, memory uint32
	lanes        uint8
	salt, sum    []byte
}

func (h hash) String() string {
	b := base64.RawStdEncoding
	return fmt.Sprintf("$argon2id$v=%d$m=%d,t=%d,p=%d$%s$%s", argon2.Version, h.memory, h.time, h.lanes, b.EncodeToString(h.salt), b.EncodeToString(h.sum))
}

func parseHash(text string) (h hash, err error) {
	wrong := fmt.Errorf("the hash is not one of Argon2id, as $argon2id$v=19$m=19456,t=2,p=1$SALT$SUM: weft user add makes it")
	parts := strings.Split(text, "$")
	if len(parts) != 6 || parts[0] != "" || parts[1] != "argon2id" || parts[2] != fmt.Sprintf("v=%d", argon2.Version) {
		return h, wrong
	}
	if _, err := fmt.Sscanf(parts[3], "m=%d,t=%d,p=%d", &h.memory, &h.time, &h.lanes); err != nil {
		return h, wrong
	}
	if h.time < 1 || h.time > 100 || h.memory < 8 || h.memory > 4<<20 || h.lanes < 1 {
		return h, fmt.Errorf("the hash has parameters that are not taken: %s", parts[3])
	}
	b := base64.RawStdEncoding
	if h.salt, err = b.DecodeString(parts[4]); err != nil || len(h.salt) < 8 {
		return h, wrong
	}
	if h.sum, err = b.DecodeString(parts[5]); err != nil || len(h.sum) < 16 {
		return h, wrong
	}
	return h, nil
}

// secretMatches compares in a time that does not depend on the secret.
func secretMatches(text, secret string) bool {
	h, err := parseHash(text)
	if err != nil {
		return false
	}
	sum := argon2.IDKey([]byte(secret), h.salt, h.time, h.memory, h.lanes, uint32(len(h.sum)))
	return subtle.ConstantTimeCompare(sum, h.sum) == 1
}

// NewToken makes a token of a user. The account has the hash alone; the text is shown once.
func NewToken(user string, r Rights, q Quota) (text string, a Account) {
	public, secret := strings.ToLower(rand.Text()[:12]), rand.Text()
	return tokenMark + public + "_" + secret, Account{User: user, Token: public, Hash: HashSecret(secret), Rights: r, Quota: q}
}

// failures count wrong credentials by address, by account, and by both. Each of these has a number of attempts, of which it gets one back in
// each period.
type failures struct {
	mu sync.Mutex
	of map[failureKey]*failed
}

// failureKey is what a failure counts for. An empty field means any.
type failureKey struct{ address, account string }

type failed struct {
	count float64
	last  time.Time
}

// budget is a number of attempts, and the time after which one of them is forgiven.
type budget struct {
	most  float64
	every time.Duration
}

// Attempts of a name from an address, of an address with any names, and of a name from anywhere. The last is loose, because otherwise anybody
// could keep a user out.
var (
	ofBoth    = budget{8, 10 * time.Second}
	ofAddress = budget{64, 10 * time.Second}
	ofAccount = budget{1000, time.Second}
)

// mostFailed is the number of addresses and accounts that are remembered.
const mostFailed = 1 << 16

// budget is that of a key.
func (k failureKey) budget() budget {
	switch {
	case k.account == "":
		return ofAddress
	case k.address == "":
		return ofAccount
	}
	return ofBoth
}

// keysOf are what failures of an attempt count for. A network of IPv6 is one address, because a client has all of its addresses.
func keysOf(address, account string) [3]failureKey {
	address = network(address)
	return [3]failureKey{{address, account}, {address, ""}, {"", account}}
}

// now is the number of failures, less those that time has forgiven.
func (x *failed) now(t time.Time, b budget) float64 {
	return max(0, x.count-float64(t.Sub(x.last))/float64(b.every))
}

// charge counts an attempt as a failure, or returns the time until one is taken.
func (f *failures) charge(t time.Time, address, account string) (wait time.Duration) {
	f.mu.Lock()
	defer f.mu.Unlock()
	keys := keysOf(address, account)
	for _, k := range keys {
		if x, b := f.of[k], k.budget(); x != nil {
			if over := x.now(t, b) - (b.most - 1); over > 0 {
				wait = max(wait, time.Duration(over*float64(b.every)))
			}
		}
	}
	if wait > 0 {
		return wait
	}
	for _, k := range keys {
		x := f.of[k]
		if x == nil {
			if len(f.of) >= mostFailed {
				f.forget(t)
			}
			x = &failed{last: t}
			f.of[k] = x
		}
		x.count, x.last = x.now(t, k.budget())+1, t
	}
	return 0
}

// refund takes back the charge of an attempt that was not wrong.
func (f *failures) refund(address, account string) {
	f.mu.Lock()
	defer f.mu.Unlock()
	for _, k := range keysOf(address, account) {
		if x := f.of[k]; x != nil {
			x.count = max(0, x.count-1)
		}
	}
}

// forget drops what time has forgiven, or all if that is nothing.
func (f *failures) forget(t time.Time) {
	for k, x := range f.of {
		if x.now(t, k.budget()) == 0 {
			delete(f.of, k)
		}
	}
	if len(f.of) >= mostFailed {
		clear(f.of)
	}
}
