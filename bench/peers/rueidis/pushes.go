package main

import (
	"context"
	"strconv"
	"sync"
	"sync/atomic"

	"github.com/redis/rueidis"
)

// Calls `on` for each message of a channel, in a goroutine, once the server has confirmed the subscription.
func subscribe(ctx context.Context, client rueidis.Client, name string, on func(rueidis.PubSubMessage)) {
	confirmed := make(chan struct{})
	hooked := rueidis.WithOnSubscriptionHook(ctx, func(rueidis.PubSubSubscription) { close(confirmed) })
	go client.Receive(hooked, client.B().Subscribe().Channel(name).Build(), on)
	<-confirmed
}

func publish(ctx context.Context, client rueidis.Client, s settings) {
	left := s.n
	received := make(chan struct{})
	subscribe(ctx, client, channel, func(rueidis.PubSubMessage) {
		if left--; left == 0 {
			close(received)
		}
	})
	var all sync.WaitGroup
	for i := range s.callers {
		all.Go(func() {
			for range s.share(i) {
				must(client.Do(ctx, client.B().Publish().Channel(channel).Message(value).Build()).Error())
			}
		})
	}
	all.Wait()
	<-received
}

func pushes(ctx context.Context, client rueidis.Client, s settings) {
	var left atomic.Int64
	left.Store(int64(s.scripts() * messagesAtOnce))
	received := make(chan struct{})
	on := func(m rueidis.PubSubMessage) {
		insist(len(m.Message) == len(value), "another message than expected")
		if left.Add(-1) == 0 {
			close(received)
		}
	}
	text := script
	if s.callers == 1 {
		subscribe(ctx, client, channel, on)
	} else {
		text = scriptForMany
		for i := range s.callers {
			subscribe(ctx, client, channel+":"+strconv.Itoa(i), on)
		}
	}
	for range s.scripts() {
		must(client.Do(ctx, client.B().Eval().Script(text).Numkeys(0).Arg(value, strconv.Itoa(s.callers)).Build()).Error())
	}
	<-received
}
