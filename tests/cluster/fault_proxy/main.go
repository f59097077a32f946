// A proxy in front of an API server that does to its clients what networks, load balancers and overloaded servers do. HTTP/2 and
// TLS on both sides, nothing but the standard library.
//
//	fault_proxy -listen 127.0.0.1:1 -to https://127.0.0.1:2 -ca CA -cert CERT -key KEY [-seed N] [-also https://127.0.0.1:3]
//	fault_proxy -listen 127.0.0.1:1 -late 127.0.0.1:2
//
// With -also one request of three, drawn, goes to that second API server while the faults are on. The second form is a plain pipe whose
// answers come lateMillis late while the faults are on: between a second API server and etcd it makes a server that is behind.
// SIGUSR1 begins the faults, SIGUSR2 ends them; before, between and after it only passes on. What it did is counted on stdout when it
// ends. Every fault is drawn from the seed; how requests interleave is the machine's.
package main

import (
	"context"
	"crypto/tls"
	"crypto/x509"
	"flag"
	"fmt"
	"io"
	"log"
	"math/rand"
	"net"
	"net/http"
	"net/http/httputil"
	"net/url"
	"os"
	"os/signal"
	"sort"
	"strings"
	"sync"
	"sync/atomic"
	"syscall"
	"time"
)

var (
	on     atomic.Bool
	mutex  sync.Mutex
	chance *rand.Rand
	counts = map[string]int{}
	conns  = map[net.Conn]bool{}
)

func draw(n int) int {
	mutex.Lock()
	defer mutex.Unlock()
	return chance.Intn(n)
}

func count(what string) {
	mutex.Lock()
	defer mutex.Unlock()
	counts[what]++
}

// A body that is passed on in pieces with pauses, and ends early by a reset if `bytes` are reached (below 0: never).
type limp struct {
	body  io.ReadCloser
	bytes int
	pause time.Duration
	piece int
}

func (l *limp) Read(p []byte) (int, error) {
	if l.bytes == 0 {
		return 0, fmt.Errorf("cut")
	}
	if l.piece > 0 && len(p) > l.piece {
		p = p[:l.piece]
	}
	if l.bytes > 0 && len(p) > l.bytes {
		p = p[:l.bytes]
	}
	n, err := l.body.Read(p)
	if l.bytes > 0 {
		l.bytes -= n
	}
	if n > 0 {
		time.Sleep(l.pause)
	}
	return n, err
}

func (l *limp) Close() error { return l.body.Close() }

func status(w http.ResponseWriter, code int, reason string, retry string) {
	w.Header().Set("Content-Type", "application/json")
	if retry != "" {
		w.Header().Set("Retry-After", retry)
	}
	w.WriteHeader(code)
	fmt.Fprintf(w, `{"kind":"Status","apiVersion":"v1","status":"Failure","message":"made up by fault_proxy","reason":%q,"code":%d}`, reason, code)
}

// Each gives the fault's name, what happens before the request goes on (true: it does not), and what is done to its answer.
func ofWatch() (string, func(http.ResponseWriter) bool, func(*http.Response)) {
	switch draw(10) {
	case 0:
		return "watch: 410 Expired", func(w http.ResponseWriter) bool { status(w, 410, "Expired", ""); return true }, nil
	case 1:
		return "watch: the server is behind", func(w http.ResponseWriter) bool { status(w, 504, "Timeout", "1"); return true }, nil
	case 2:
		bytes := 1 + draw(20000)
		return "watch: cut in its body", nil, func(r *http.Response) { r.Body = &limp{r.Body, bytes, 0, 0} }
	case 3:
		delay := time.Duration(500+draw(2500)) * time.Millisecond
		return "watch: a stale server", nil, func(r *http.Response) { r.Body = &limp{r.Body, -1, delay, 0} }
	}
	return "", nil, nil
}

func ofRequest() (string, func(http.ResponseWriter) bool, func(*http.Response)) {
	switch draw(40) {
	case 0:
		return "429 with Retry-After", func(w http.ResponseWriter) bool { status(w, 429, "TooManyRequests", "1"); return true }, nil
	case 1:
		return "503, not done", func(w http.ResponseWriter) bool { status(w, 503, "ServiceUnavailable", ""); return true }, nil
	case 2: // a gateway that lost the answer; the API server's own 500 for an eviction means no
		return "502, but done", nil, func(r *http.Response) {
			r.Body.Close()
			r.StatusCode, r.Status, r.ContentLength = 502, "502 Bad Gateway", -1
			r.Header.Del("Content-Length")
			r.Body = io.NopCloser(strings.NewReader("made up by fault_proxy"))
		}
	case 3:
		return "reset before it was passed on", func(http.ResponseWriter) bool { panic(http.ErrAbortHandler) }, nil
	case 4, 5:
		return "done, and the answer lost", nil, func(r *http.Response) { r.Body = &limp{r.Body, 0, 0, 0} }
	case 6, 7:
		bytes := 1 + draw(400)
		return "done, and the answer cut", nil, func(r *http.Response) { r.Body = &limp{r.Body, bytes, 0, 0} }
	case 8, 9:
		return "a slow body", nil, func(r *http.Response) { r.Body = &limp{r.Body, -1, 20 * time.Millisecond, 512} }
	case 10:
		return "500, not done", func(w http.ResponseWriter) bool { status(w, 500, "InternalError", ""); return true }, nil
	case 11:
		delay := time.Duration(draw(3000)) * time.Millisecond
		return "a slow server", func(http.ResponseWriter) bool { time.Sleep(delay); return false }, nil
	}
	return "", nil, nil
}

type key struct{}
type second struct{}

const lateMillis = 700

// Copies in order; each piece arrives lateMillis after it came, while the faults are on.
func copyLate(to, from net.Conn) {
	type piece struct {
		bytes []byte
		due   time.Time
	}
	pieces := make(chan piece, 4096)
	go func() {
		defer close(pieces)
		for {
			buffer := make([]byte, 65536)
			n, err := from.Read(buffer)
			if n > 0 {
				due := time.Now()
				if on.Load() {
					count("pieces that came late")
					due = due.Add(lateMillis * time.Millisecond)
				}
				pieces <- piece{buffer[:n], due}
			}
			if err != nil {
				return
			}
		}
	}()
	for one := range pieces {
		time.Sleep(time.Until(one.due))
		if _, err := to.Write(one.bytes); err != nil {
			break
		}
	}
	to.Close()
	from.Close()
	for range pieces {
	}
}

func pipe(listen, to string) {
	listener, err := net.Listen("tcp", listen)
	if err != nil {
		log.Fatal(err)
	}
	for {
		client, err := listener.Accept()
		if err != nil {
			log.Fatal(err)
		}
		server, err := net.Dial("tcp", to)
		if err != nil {
			client.Close()
			continue
		}
		go copyLate(client, server)
		go func() {
			io.Copy(server, client)
			server.Close()
		}()
	}
}

func obeySignals() {
	signals := make(chan os.Signal, 4)
	signal.Notify(signals, syscall.SIGUSR1, syscall.SIGUSR2, syscall.SIGTERM)
	for one := range signals {
		if one == syscall.SIGTERM {
			report()
			os.Exit(0)
		}
		on.Store(one == syscall.SIGUSR1)
	}
}

func main() {
	listen := flag.String("listen", "", "HOST:PORT")
	to := flag.String("to", "", "https://HOST:PORT of the API server")
	also := flag.String("also", "", "https://HOST:PORT of a second one")
	late := flag.String("late", "", "HOST:PORT; a pipe to there, and nothing else")
	ca := flag.String("ca", "", "its CA")
	cert := flag.String("cert", "", "own certificate")
	keyFile := flag.String("key", "", "and its key")
	seed := flag.Int64("seed", 1, "of the faults")
	flag.Parse()
	go obeySignals()
	if *late != "" {
		pipe(*listen, *late)
	}
	chance = rand.New(rand.NewSource(*seed))
	pem, err := os.ReadFile(*ca)
	if err != nil {
		log.Fatal(err)
	}
	pool := x509.NewCertPool()
	pool.AppendCertsFromPEM(pem)
	target, err := url.Parse(*to)
	if err != nil {
		log.Fatal(err)
	}
	other, err := url.Parse(*also)
	if err != nil {
		log.Fatal(err)
	}
	proxy := &httputil.ReverseProxy{
		Rewrite: func(r *httputil.ProxyRequest) {
			if r.In.Context().Value(second{}) != nil {
				r.SetURL(other)
			} else {
				r.SetURL(target)
			}
		},
		Transport:     &http.Transport{TLSClientConfig: &tls.Config{RootCAs: pool}, ForceAttemptHTTP2: true},
		FlushInterval: -1,
		ErrorLog:      log.New(io.Discard, "", 0),
		ModifyResponse: func(r *http.Response) error {
			if after, _ := r.Request.Context().Value(key{}).(func(*http.Response)); after != nil {
				after(r)
			}
			return nil
		},
		ErrorHandler: func(http.ResponseWriter, *http.Request, error) { panic(http.ErrAbortHandler) },
	}
	handler := http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		count("passed through")
		if on.Load() {
			if *also != "" && draw(3) == 0 {
				count("sent to the second API server")
				r = r.WithContext(context.WithValue(r.Context(), second{}, true))
			}
			decide := ofRequest
			if r.URL.Query().Get("watch") != "" {
				decide = ofWatch
			}
			name, before, after := decide()
			if name != "" {
				count(name)
			}
			if before != nil && before(w) {
				return
			}
			if after != nil {
				r = r.WithContext(context.WithValue(r.Context(), key{}, after))
			}
		}
		proxy.ServeHTTP(w, r)
	})
	server := &http.Server{Addr: *listen, Handler: handler, ErrorLog: log.New(io.Discard, "", 0), ConnState: track}
	go cutConnections()
	log.Fatal(server.ListenAndServeTLS(*cert, *keyFile))
}

func track(conn net.Conn, state http.ConnState) {
	mutex.Lock()
	defer mutex.Unlock()
	if state == http.StateClosed || state == http.StateHijacked {
		delete(conns, conn)
	} else {
		conns[conn] = true
	}
}

// Now and then every connection ends at once, with whatever is under way on it.
func cutConnections() {
	for {
		time.Sleep(time.Duration(6000+draw(6000)) * time.Millisecond)
		if !on.Load() {
			continue
		}
		count("every connection cut")
		mutex.Lock()
		for conn := range conns {
			conn.Close()
		}
		mutex.Unlock()
	}
}

func report() {
	mutex.Lock()
	defer mutex.Unlock()
	var names []string
	for name := range counts {
		names = append(names, name)
	}
	sort.Strings(names)
	for _, name := range names {
		fmt.Printf("%6d %s\n", counts[name], name)
	}
}
