package main

import (
	"context"
	"sync"
	"time"

	"github.com/redis/rueidis"
)

func call(ctx context.Context, client rueidis.Client, s settings, caller int) {
	key := keyOf(caller)
	for i := range s.share(caller) {
		limit, cancel := ctx, func() {}
		if s.way == "limited" {
			limit, cancel = context.WithTimeout(ctx, 10*time.Second)
		}
		if i%2 == 0 {
			must(client.Do(limit, client.B().Set().Key(key).Value(value).Build()).Error())
		} else {
			found, err := client.Do(limit, client.B().Get().Key(key).Build()).ToString()
			must(err)
			insist(found == value, "GET gave another value")
		}
		cancel()
	}
}

func calls(ctx context.Context, client rueidis.Client, s settings) {
	var all sync.WaitGroup
	for i := range s.callers {
		all.Go(func() { call(ctx, client, s, i) })
	}
	all.Wait()
}

func pipeline(ctx context.Context, client rueidis.Client, s settings) {
	keys := make([]string, s.callers)
	for i := range keys {
		keys[i] = keyOf(i)
	}
	commands := make(rueidis.Commands, 0, s.callers)
	for round := range s.n / s.callers {
		commands = commands[:0]
		for _, key := range keys {
			if round%2 == 0 {
				commands = append(commands, client.B().Set().Key(key).Value(value).Build())
			} else {
				commands = append(commands, client.B().Get().Key(key).Build())
			}
		}
		for _, reply := range client.DoMulti(ctx, commands...) {
			if round%2 == 0 {
				must(reply.Error())
			} else {
				found, err := reply.ToString()
				must(err)
				insist(found == value, "GET gave another value")
			}
		}
	}
}
