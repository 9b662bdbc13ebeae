// clients lines CLIENT produce|consume BOOTSTRAP TOPIC FILE [CODEC]: the file's lines, each `key TAB value`, through CLIENT:
// franz, sarama or segment. Consuming writes FILE.<partition>, from the beginning to the end that stands at the start.
package main

import (
	"bufio"
	"bytes"
	"context"
	"fmt"
	"log"
	"os"

	"github.com/IBM/sarama"
	"github.com/twmb/franz-go/pkg/kadm"
	"github.com/twmb/franz-go/pkg/kgo"
)

func check(err error) {
	if err != nil {
		log.Fatal(err)
	}
}

func lines(path string, each func(key, value []byte)) {
	file, err := os.Open(path)
	check(err)
	in := bufio.NewReaderSize(file, 1<<20)
	for {
		line, err := in.ReadBytes('\n')
		if len(line) == 0 && err != nil {
			return
		}
		line = bytes.TrimSuffix(line, []byte("\n"))
		key, value, _ := bytes.Cut(line, []byte("\t"))
		each(key, value)
	}
}

type out struct {
	file *bufio.Writer
	end  int64
}

func create(path string, partition int32, end int64) *out {
	file, err := os.Create(fmt.Sprintf("%s.%d", path, partition))
	check(err)
	return &out{bufio.NewWriterSize(file, 1<<20), end}
}

// Writes a record; true when it was the last before the end.
func (o *out) take(offset int64, key, value []byte) bool {
	if offset < o.end {
		o.file.Write(key)
		o.file.WriteByte('\t')
		o.file.Write(value)
		o.file.WriteByte('\n')
	}
	return offset+1 >= o.end
}

func main() {
	if os.Args[1] == "member" {
		member(os.Args[2:])
		return
	}
	client, what, bootstrap, topic, path := os.Args[2], os.Args[3], os.Args[4], os.Args[5], os.Args[6]
	codec := "none"
	if len(os.Args) > 7 {
		codec = os.Args[7]
	}
	switch client + " " + what {
	case "franz produce":
		franzProduce(bootstrap, topic, path, codec)
	case "franz consume":
		franzConsume(bootstrap, topic, path)
	case "sarama produce":
		saramaProduce(bootstrap, topic, path, codec)
	case "sarama consume":
		saramaConsume(bootstrap, topic, path)
	case "segment produce":
		segmentProduce(bootstrap, topic, path, codec)
	case "segment consume":
		segmentConsume(bootstrap, topic, path)
	default:
		log.Fatalf("unknown: %s %s", client, what)
	}
}

func franzProduce(bootstrap, topic, path, codec string) {
	codecs := map[string]kgo.CompressionCodec{"none": kgo.NoCompression(), "gzip": kgo.GzipCompression(),
		"snappy": kgo.SnappyCompression(), "lz4": kgo.Lz4Compression(), "zstd": kgo.ZstdCompression()}
	cl, err := kgo.NewClient(kgo.SeedBrokers(bootstrap), kgo.DefaultProduceTopic(topic), kgo.ProducerBatchCompression(codecs[codec]))
	check(err)
	lines(path, func(key, value []byte) {
		cl.Produce(context.Background(), &kgo.Record{Key: key, Value: value}, func(_ *kgo.Record, err error) { check(err) })
	})
	check(cl.Flush(context.Background()))
	cl.Close()
}

func franzConsume(bootstrap, topic, path string) {
	cl, err := kgo.NewClient(kgo.SeedBrokers(bootstrap))
	check(err)
	ends, err := kadm.NewClient(cl).ListEndOffsets(context.Background(), topic)
	check(err)
	outs, assign, left := map[int32]*out{}, map[int32]kgo.Offset{}, 0
	ends.Each(func(o kadm.ListedOffset) {
		check(o.Err)
		outs[o.Partition] = create(path, o.Partition, o.Offset)
		assign[o.Partition] = kgo.NewOffset().AtStart()
		if o.Offset > 0 {
			left++
		}
	})
	cl.Close()
	cl, err = kgo.NewClient(kgo.SeedBrokers(bootstrap), kgo.ConsumePartitions(map[string]map[int32]kgo.Offset{topic: assign}))
	check(err)
	done := map[int32]bool{}
	for left > 0 {
		fetches := cl.PollFetches(context.Background())
		for _, e := range fetches.Errors() {
			check(e.Err)
		}
		fetches.EachRecord(func(r *kgo.Record) {
			if outs[r.Partition].take(r.Offset, r.Key, r.Value) && !done[r.Partition] {
				done[r.Partition] = true
				left--
			}
		})
	}
	for _, o := range outs {
		check(o.file.Flush())
	}
	cl.Close()
}

func saramaConfig(codec string) *sarama.Config {
	codecs := map[string]sarama.CompressionCodec{"none": sarama.CompressionNone, "gzip": sarama.CompressionGZIP,
		"snappy": sarama.CompressionSnappy, "lz4": sarama.CompressionLZ4, "zstd": sarama.CompressionZSTD}
	config := sarama.NewConfig()
	config.Version = sarama.V2_8_0_0
	config.Producer.Compression = codecs[codec]
	config.Producer.RequiredAcks = sarama.WaitForAll
	config.Producer.Return.Successes = true
	return config
}

func saramaProduce(bootstrap, topic, path, codec string) {
	producer, err := sarama.NewAsyncProducer([]string{bootstrap}, saramaConfig(codec))
	check(err)
	sent, done := make(chan int), make(chan struct{})
	go func() {
		total, got := -1, 0
		for total < 0 || got < total {
			select {
			case total = <-sent:
			case <-producer.Successes():
				got++
			case failed := <-producer.Errors():
				log.Fatal(failed)
			}
		}
		close(done)
	}()
	count := 0
	lines(path, func(key, value []byte) {
		count++
		producer.Input() <- &sarama.ProducerMessage{Topic: topic, Key: sarama.ByteEncoder(key), Value: sarama.ByteEncoder(value)}
	})
	sent <- count
	<-done
	check(producer.Close())
}

func saramaConsume(bootstrap, topic, path string) {
	client, err := sarama.NewClient([]string{bootstrap}, saramaConfig("none"))
	check(err)
	consumer, err := sarama.NewConsumerFromClient(client)
	check(err)
	partitions, err := client.Partitions(topic)
	check(err)
	for _, p := range partitions {
		end, err := client.GetOffset(topic, p, sarama.OffsetNewest)
		check(err)
		o := create(path, p, end)
		if end > 0 {
			pc, err := consumer.ConsumePartition(topic, p, sarama.OffsetOldest)
			check(err)
			for message := range pc.Messages() {
				if o.take(message.Offset, message.Key, message.Value) {
					break
				}
			}
			pc.AsyncClose()
		}
		check(o.file.Flush())
	}
	check(client.Close())
}
