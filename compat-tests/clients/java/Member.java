// Member BOOTSTRAP GROUP TOPIC eager|cooperative|consumer [KEY=VALUE...]: a member of a group through the Java client,
// with KEY=VALUE in its config. It says what it owns, reads and commits, a line an event (compat-tests/src/member.rs
// reads them), until it is told to end (SIGTERM), and then leaves.
import java.time.Duration;
import java.util.*;
import java.util.stream.Collectors;
import org.apache.kafka.clients.consumer.*;
import org.apache.kafka.common.TopicPartition;
import org.apache.kafka.common.errors.*;
import org.apache.kafka.common.serialization.ByteArrayDeserializer;

public class Member {
    static synchronized void say(String event) {
        System.out.println("@ " + System.currentTimeMillis() + " " + event);
        System.out.flush();
    }

    static String numbers(Collection<TopicPartition> partitions) {
        return partitions.stream().map(p -> "" + p.partition()).collect(Collectors.joining(","));
    }

    static Properties config(String[] a) {
        Properties config = new Properties();
        config.putAll(Map.of("bootstrap.servers", a[0], "group.id", a[1], "enable.auto.commit", "false",
            "auto.offset.reset", "earliest", "metadata.max.age.ms", "2000",
            "key.deserializer", ByteArrayDeserializer.class.getName(), "value.deserializer", ByteArrayDeserializer.class.getName()));
        if (a[3].equals("consumer")) config.put("group.protocol", "consumer");
        else {
            String assignor = a[3].equals("cooperative") ? "CooperativeStickyAssignor" : "RangeAssignor";
            config.putAll(Map.of("partition.assignment.strategy", "org.apache.kafka.clients.consumer." + assignor,
                "session.timeout.ms", "6000", "heartbeat.interval.ms", "500"));
        }
        for (int i = 4; i < a.length; i++) config.put(a[i].split("=", 2)[0], a[i].split("=", 2)[1]);
        return config;
    }

    public static void main(String[] a) throws Exception {
        KafkaConsumer<byte[], byte[]> consumer = new KafkaConsumer<>(config(a));
        Thread main = Thread.currentThread();
        Runtime.getRuntime().addShutdownHook(new Thread(() -> {
            consumer.wakeup();
            try { main.join(20000); } catch (InterruptedException ignored) { }
        }));
        consumer.subscribe(List.of(a[2]), new ConsumerRebalanceListener() {
            public void onPartitionsAssigned(Collection<TopicPartition> partitions) { say("own " + numbers(partitions)); }
            public void onPartitionsRevoked(Collection<TopicPartition> partitions) { say("give " + numbers(partitions)); }
            public void onPartitionsLost(Collection<TopicPartition> partitions) { say("lost " + numbers(partitions)); }
        });
        try {
            while (true) {
                ConsumerRecords<byte[], byte[]> records = consumer.poll(Duration.ofMillis(200));
                for (TopicPartition p : records.partitions()) {
                    List<ConsumerRecord<byte[], byte[]>> some = records.records(p);
                    say("got " + p.partition() + " " + some.get(0).offset() + " " + (some.get(some.size() - 1).offset() + 1));
                }
                if (!records.isEmpty()) commit(consumer, records.nextOffsets());
            }
        } catch (WakeupException ended) {
            consumer.close(CloseOptions.timeout(Duration.ofSeconds(10)));
            say("closed");
        }
    }

    // What was read is committed before more is read; a broker that is away is waited for.
    static void commit(KafkaConsumer<byte[], byte[]> consumer, Map<TopicPartition, OffsetAndMetadata> offsets) {
        boolean ended = false;
        for (boolean done = false; !done; ) {
            try {
                consumer.commitSync(offsets, Duration.ofSeconds(5));
                offsets.forEach((p, o) -> say("kept " + p.partition() + " " + o.offset()));
                done = true;
            } catch (WakeupException again) {
                ended = true;
            } catch (TimeoutException again) {
            } catch (CommitFailedException | RebalanceInProgressException | FencedInstanceIdException refused) {
                say("refused");
                done = true;
            }
        }
        if (ended) throw new WakeupException();
    }
}
