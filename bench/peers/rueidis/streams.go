package main

import (
	"context"

	"github.com/redis/rueidis"
)

const (
	stream         = "orders"
	group          = "billing"
	consumer       = "worker-1"
	field          = "order"
	entriesAtOnce  = 100
	scriptThatAdds = "for i = 1, 1000 do redis.call('XADD', 'orders', '*', 'order', ARGV[1]) end return 1"
)

func add(ctx context.Context, client rueidis.Client, s settings) {
	must(client.Do(ctx, client.B().Del().Key(stream).Build()).Error())
	commands := make(rueidis.Commands, 0, entriesAtOnce)
	for range s.n / entriesAtOnce {
		commands = commands[:0]
		for range entriesAtOnce {
			commands = append(commands, client.B().Xadd().Key(stream).Id("*").FieldValue().FieldValue(field, value).Build())
		}
		for _, reply := range client.DoMulti(ctx, commands...) {
			_, err := reply.ToString()
			must(err)
		}
	}
}

func consume(ctx context.Context, client rueidis.Client, s settings) {
	must(client.Do(ctx, client.B().Del().Key(stream).Build()).Error())
	must(client.Do(ctx, client.B().XgroupCreate().Key(stream).Group(group).Id("0").Mkstream().Build()).Error())
	for range s.scripts() {
		must(client.Do(ctx, client.B().Eval().Script(scriptThatAdds).Numkeys(0).Arg(value).Build()).Error())
		for left := messagesAtOnce; left > 0; {
			found, err := client.Do(ctx, client.B().Xreadgroup().Group(group, consumer).Count(entriesAtOnce).Streams().
				Key(stream).Id(">").Build()).AsXRead()
			must(err)
			var ids []string
			for _, entry := range found[stream] {
				insist(entry.FieldValues[field] == value, "another entry than expected")
				ids = append(ids, entry.ID)
			}
			acknowledged, err := client.Do(ctx, client.B().Xack().Key(stream).Group(group).Id(ids...).Build()).AsInt64()
			must(err)
			insist(int(acknowledged) == len(ids), "not all was pending")
			left -= len(ids)
		}
	}
}
