// rueidis: rueidis_peer WAY and then as bench/redis/workload.hpp says. A goroutine for each caller, one connection.
//
//	multiplexed  calls without a limit
//	delayed      the same, with the delay before each write that its documentation proposes
//	limited      each call has a context that ends after ten seconds
//	pipeline     one goroutine: as many commands as there are callers go out by DoMulti
//	apart        mode small: the large values are read by a client of their own
package main

import (
	"context"
	"os"
	"strconv"
	"time"

	"github.com/redis/rueidis"
)

const (
	skipped        = 77
	messagesAtOnce = 1000
	value          = "the value has thirty-two bytes.."
	channel        = "news"
	script         = "for i = 1, 1000 do redis.call('PUBLISH', 'news', ARGV[1]) end return 1"
	scriptForMany  = "for i = 0, 999 do redis.call('PUBLISH', 'news:' .. i % ARGV[2], ARGV[1]) end return 1"
)

type settings struct {
	way, mode  string
	n, callers int
	address    string
}

func (s settings) share(caller int) int {
	if caller < s.n%s.callers {
		return s.n/s.callers + 1
	}
	return s.n / s.callers
}

func (s settings) scripts() int { return (s.n + messagesAtOnce - 1) / messagesAtOnce }

func keyOf(caller int) string { return "key:" + strconv.Itoa(10000+caller%10000) }

func insist(good bool, what string) {
	if !good {
		os.Stderr.WriteString(what + "\n")
		os.Exit(1)
	}
}

func must(err error) {
	if err != nil {
		insist(false, err.Error())
	}
}

func (s settings) connect() rueidis.Client {
	var delay time.Duration
	if s.way == "delayed" {
		delay = 20 * time.Microsecond
	}
	client, err := rueidis.NewClient(rueidis.ClientOption{
		InitAddress:       []string{s.address},
		ForceSingleClient: true,
		DisableCache:      true,
		PipelineMultiplex: -1,
		MaxFlushDelay:     delay,
	})
	must(err)
	return client
}

func main() {
	if len(os.Args) != 6 {
		os.Exit(2)
	}
	n, err := strconv.Atoi(os.Args[3])
	must(err)
	callers, err := strconv.Atoi(os.Args[4])
	must(err)
	s := settings{os.Args[1], os.Args[2], n, callers, os.Args[5]}
	client := s.connect()
	defer client.Close()
	ctx := context.Background()
	switch {
	case s.mode == "calls" && s.way == "pipeline":
		pipeline(ctx, client, s)
	case s.mode == "calls":
		calls(ctx, client, s)
	case s.mode == "publish":
		publish(ctx, client, s)
	case s.mode == "pushes":
		pushes(ctx, client, s)
	case s.mode == "small":
		small(ctx, client, s)
	case s.mode == "add":
		add(ctx, client, s)
	case s.mode == "consume":
		consume(ctx, client, s)
	default:
		os.Exit(skipped)
	}
}
