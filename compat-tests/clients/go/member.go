package main

import (
	"context"
	"errors"
	"fmt"
	"log"
	"os/signal"
	"strings"
	"syscall"
	"time"

	"github.com/IBM/sarama"
	"github.com/twmb/franz-go/pkg/kerr"
	"github.com/twmb/franz-go/pkg/kgo"
)

// An event of a member, a line (compat-tests/src/member.rs reads them).
func say(format string, args ...any) {
	fmt.Printf("@ %d %s\n", time.Now().UnixMilli(), fmt.Sprintf(format, args...))
}

func numbers(partitions []int32) string {
	words := make([]string, len(partitions))
	for i, p := range partitions {
		words[i] = fmt.Sprint(p)
	}
	return strings.Join(words, ",")
}

// Commits what was read and is not committed yet; what is refused in a rebalance is tried again with the next.
func franzCommit(cl *kgo.Client, topic string) {
	for {
		after := cl.UncommittedOffsets()[topic]
		if len(after) == 0 {
			return
		}
		err := cl.CommitUncommittedOffsets(context.Background())
		var refused *kerr.Error
		if err == nil {
			for p, offset := range after {
				say("kept %d %d", p, offset.Offset)
			}
			return
		} else if errors.As(err, &refused) && !refused.Retriable {
			say("refused %v", err)
			return
		}
		time.Sleep(100 * time.Millisecond)
	}
}

func franzMember(bootstrap, group, topic, mode string) {
	told := func(what string) func(context.Context, *kgo.Client, map[string][]int32) {
		return func(_ context.Context, cl *kgo.Client, partitions map[string][]int32) {
			if what == "give" {
				franzCommit(cl, topic)
			}
			say("%s %s", what, numbers(partitions[topic]))
		}
	}
	balancers := map[string]kgo.GroupBalancer{"eager": kgo.RangeBalancer(), "cooperative": kgo.CooperativeStickyBalancer(), "consumer": kgo.StickyBalancer()}
	options := []kgo.Opt{kgo.SeedBrokers(bootstrap), kgo.ConsumerGroup(group), kgo.ConsumeTopics(topic), kgo.DisableAutoCommit(),
		kgo.BlockRebalanceOnPoll(), kgo.Balancers(balancers[mode]), kgo.ConsumeResetOffset(kgo.NewOffset().AtStart()),
		kgo.MetadataMinAge(500 * time.Millisecond), kgo.MetadataMaxAge(2 * time.Second), kgo.FetchMaxWait(200 * time.Millisecond),
		kgo.OnPartitionsAssigned(told("own")), kgo.OnPartitionsRevoked(told("give")), kgo.OnPartitionsLost(told("lost"))}
	if mode == "consumer" {
		// The word by which this version lets itself be asked for the new protocol.
		options = append(options, kgo.WithContext(context.WithValue(context.Background(), "opt_in_kafka_next_gen_balancer_beta", true)))
	} else {
		options = append(options, kgo.SessionTimeout(6*time.Second), kgo.HeartbeatInterval(500*time.Millisecond))
	}
	cl, err := kgo.NewClient(options...)
	check(err)
	ended, stop := signal.NotifyContext(context.Background(), syscall.SIGTERM)
	defer stop()
	for ended.Err() == nil {
		cl.PollRecords(ended, 1000).EachPartition(func(p kgo.FetchTopicPartition) {
			if n := len(p.Records); n > 0 {
				say("got %d %d %d", p.Partition, p.Records[0].Offset, p.Records[n-1].Offset+1)
			}
		})
		franzCommit(cl, topic)
		cl.AllowRebalance()
	}
	cl.CloseAllowingRebalance()
	say("closed")
}

// A session of a sarama group: its claims are read by a goroutine each, and committed at once. A commit gives no
// result, so that none is said.
type session struct{ topic string }

func (s session) Setup(g sarama.ConsumerGroupSession) error {
	say("own %s", numbers(g.Claims()[s.topic]))
	return nil
}

func (s session) Cleanup(g sarama.ConsumerGroupSession) error {
	say("give %s", numbers(g.Claims()[s.topic]))
	return nil
}

func (s session) ConsumeClaim(g sarama.ConsumerGroupSession, claim sarama.ConsumerGroupClaim) error {
	for {
		select {
		case message, more := <-claim.Messages():
			if !more {
				return nil
			}
			first, after := message.Offset, message.Offset+1
			for waiting := len(claim.Messages()); waiting > 0; waiting-- {
				if message, more = <-claim.Messages(); !more {
					break
				}
				after = message.Offset + 1
			}
			say("got %d %d %d", claim.Partition(), first, after)
			g.MarkOffset(s.topic, claim.Partition(), after, "")
			g.Commit()
		case <-g.Context().Done():
			return nil
		}
	}
}

func saramaMember(bootstrap, group, topic string) {
	config := saramaConfig("none")
	config.Consumer.Offsets.Initial = sarama.OffsetOldest
	config.Consumer.Offsets.AutoCommit.Enable = false
	config.Consumer.Offsets.Retry.Max = 100
	config.Consumer.Group.Session.Timeout = 6 * time.Second
	config.Consumer.Group.Heartbeat.Interval = 500 * time.Millisecond
	config.Consumer.Group.Rebalance.GroupStrategies = []sarama.BalanceStrategy{sarama.NewBalanceStrategyRange()}
	config.Metadata.RefreshFrequency = 2 * time.Second
	members, err := sarama.NewConsumerGroup([]string{bootstrap}, group, config)
	check(err)
	ended, stop := signal.NotifyContext(context.Background(), syscall.SIGTERM)
	defer stop()
	for ended.Err() == nil {
		if err := members.Consume(ended, []string{topic}, session{topic}); err != nil {
			log.Print(err)
			time.Sleep(100 * time.Millisecond)
		}
	}
	check(members.Close())
	say("closed")
}

// clients member CLIENT BOOTSTRAP GROUP TOPIC eager|cooperative|consumer: a member of a group through CLIENT. It says what it
// owns, reads and commits, until it is told to end (SIGTERM), and then leaves.
func member(a []string) {
	client, bootstrap, group, topic, mode := a[0], a[1], a[2], a[3], a[4]
	switch client {
	case "franz":
		franzMember(bootstrap, group, topic, mode)
	case "sarama":
		saramaMember(bootstrap, group, topic)
	case "segment":
		segmentMember(bootstrap, group, topic)
	default:
		log.Fatalf("unknown: %s", client)
	}
}
