package main

import (
	"context"
	"fmt"
	"os"
	"slices"
	"strings"
	"time"

	"github.com/redis/rueidis"
)

const (
	smallKey  = "small"
	smallSize = 64
	largeKey  = "large"
	largeSize = 16 * 1024 * 1024
)

func small(ctx context.Context, client rueidis.Client, s settings) {
	text := strings.Repeat("s", smallSize)
	must(client.Do(ctx, client.B().Set().Key(smallKey).Value(text).Build()).Error())
	must(client.Do(ctx, client.B().Setrange().Key(largeKey).Offset(largeSize-1).Value("x").Build()).Error())
	others := client
	if s.way == "apart" {
		others = s.connect()
	}
	for range s.callers {
		go func() {
			for {
				found, err := others.Do(ctx, others.B().Get().Key(largeKey).Build()).ToString()
				must(err)
				insist(len(found) == largeSize, "GET gave another value")
			}
		}()
	}
	all := make([]time.Duration, s.n)
	for i := range all {
		begun := time.Now()
		found, err := client.Do(ctx, client.B().Get().Key(smallKey).Build()).ToString()
		all[i] = time.Since(begun)
		must(err)
		insist(found == text, "GET gave another value")
	}
	slices.Sort(all)
	us := func(part float64) float64 { return float64(all[int(part*float64(len(all)-1))].Nanoseconds()) / 1000 }
	fmt.Printf("p50 %.1f us, p99 %.1f us, longest %.1f us\n%.1f us\n", us(0.5), us(0.99), us(1), us(0.99))
	os.Exit(0) // The others read for ever.
}
