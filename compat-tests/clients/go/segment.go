package main

import (
	"context"
	"errors"
	"log"
	"os/signal"
	"sync"
	"syscall"
	"time"

	"github.com/segmentio/kafka-go"
)

func segmentProduce(bootstrap, topic, path, codec string) {
	codecs := map[string]kafka.Compression{"gzip": kafka.Gzip, "snappy": kafka.Snappy, "lz4": kafka.Lz4, "zstd": kafka.Zstd}
	writer := &kafka.Writer{Addr: kafka.TCP(bootstrap), Topic: topic, Balancer: &kafka.Hash{}, RequiredAcks: kafka.RequireAll,
		Compression: codecs[codec], BatchSize: 2000, BatchBytes: 900_000, BatchTimeout: 5 * time.Millisecond}
	var waiting []kafka.Message
	send := func() {
		check(writer.WriteMessages(context.Background(), waiting...))
		waiting = waiting[:0]
	}
	lines(path, func(key, value []byte) {
		if waiting = append(waiting, kafka.Message{Key: key, Value: value}); len(waiting) == 20_000 {
			send()
		}
	})
	send()
	check(writer.Close())
}

func segmentConsume(bootstrap, topic, path string) {
	conn, err := kafka.Dial("tcp", bootstrap)
	check(err)
	partitions, err := conn.ReadPartitions(topic)
	check(err)
	check(conn.Close())
	for _, p := range partitions {
		leader, err := kafka.DialPartition(context.Background(), "tcp", bootstrap, p)
		check(err)
		end, err := leader.ReadLastOffset()
		check(err)
		check(leader.Close())
		o := create(path, int32(p.ID), end)
		// A reader that closes waits for the fetch that it has sent.
		reader := kafka.NewReader(kafka.ReaderConfig{Brokers: []string{bootstrap}, Topic: topic, Partition: p.ID,
			MaxWait: 100 * time.Millisecond, MaxBytes: 1 << 20})
		for done := end == 0; !done; {
			message, err := reader.ReadMessage(context.Background())
			check(err)
			done = o.take(message.Offset, message.Key, message.Value)
		}
		check(reader.Close())
		check(o.file.Flush())
	}
}

// Reads one partition of a generation, and commits what it has read, until the generation ends.
func segmentClaim(ctx context.Context, generation *kafka.Generation, reader *kafka.Reader, topic string, partition int) {
	defer reader.Close()
	for {
		message, err := reader.ReadMessage(ctx)
		if ctx.Err() != nil {
			return
		}
		check(err)
		after := message.Offset + 1
		say("got %d %d %d", partition, message.Offset, after)
		switch err := generation.CommitOffsets(map[string]map[int]int64{topic: {partition: after}}); {
		case err == nil:
			say("kept %d %d", partition, after)
		case errors.Is(err, kafka.IllegalGeneration), errors.Is(err, kafka.UnknownMemberId), errors.Is(err, kafka.RebalanceInProgress):
			say("refused %v", err)
		case ctx.Err() == nil:
			log.Print(err)
		}
	}
}

func segmentMember(bootstrap, group, topic string) {
	members, err := kafka.NewConsumerGroup(kafka.ConsumerGroupConfig{ID: group, Brokers: []string{bootstrap}, Topics: []string{topic},
		GroupBalancers: []kafka.GroupBalancer{kafka.RangeGroupBalancer{}}, HeartbeatInterval: 500 * time.Millisecond,
		SessionTimeout: 6 * time.Second, RebalanceTimeout: 20 * time.Second, JoinGroupBackoff: 100 * time.Millisecond,
		WatchPartitionChanges: true, PartitionWatchInterval: 2 * time.Second, StartOffset: kafka.FirstOffset})
	check(err)
	ended, stop := signal.NotifyContext(context.Background(), syscall.SIGTERM)
	defer stop()
	for ended.Err() == nil {
		generation, err := members.Next(ended)
		if err != nil {
			if ended.Err() == nil {
				log.Print(err)
			}
			continue
		}
		claims := generation.Assignments[topic]
		owned := make([]int32, len(claims))
		for i, claim := range claims {
			owned[i] = int32(claim.ID)
		}
		say("epoch %d", generation.ID)
		say("own %s", numbers(owned))
		// The next generation is joined when this has come back.
		generation.Start(func(ctx context.Context) {
			var all sync.WaitGroup
			for _, claim := range claims {
				reader := kafka.NewReader(kafka.ReaderConfig{Brokers: []string{bootstrap}, Topic: topic, Partition: claim.ID,
					MaxWait: 200 * time.Millisecond, MaxBytes: 1 << 20})
				check(reader.SetOffset(claim.Offset))
				all.Go(func() { segmentClaim(ctx, generation, reader, topic, claim.ID) })
			}
			<-ctx.Done()
			all.Wait()
			say("give %s", numbers(owned))
		})
	}
	check(members.Close())
	say("closed")
}
