// Member BOOTSTRAP GROUP TOPIC eager|cooperative|consumer [KEY=VALUE...]: a member of a group through the Java client,
// with KEY=VALUE in its config. It says what it owns, reads and commits, a line an event (compat-tests/src/member.rs
// reads them), until it is told to end (SIGTERM), and then leaves.
import java.time.Duration;
import java.util.*;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.function.BooleanSupplier;
import java.util.function.Consumer;
import java.util.stream.Collectors;
import org.apache.kafka.clients.consumer.CloseOptions;
import org.apache.kafka.clients.consumer.CommitFailedException;
import org.apache.kafka.clients.consumer.ConsumerRebalanceListener;
import org.apache.kafka.clients.consumer.ConsumerRecord;
import org.apache.kafka.clients.consumer.ConsumerRecords;
import org.apache.kafka.clients.consumer.KafkaConsumer;
import org.apache.kafka.clients.consumer.OffsetAndMetadata;
import org.apache.kafka.common.TopicPartition;
import org.apache.kafka.common.errors.*;
import org.apache.kafka.common.serialization.ByteArrayDeserializer;

public class Member {
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

    final KafkaConsumer<byte[], byte[]> consumer;
    final Consumer<String> say;
    // What was read and is not committed yet.
    final Map<TopicPartition, OffsetAndMetadata> pending = new HashMap<>();

    Member(KafkaConsumer<byte[], byte[]> consumer, Consumer<String> say) {
        this.consumer = consumer;
        this.say = say;
    }

    public static void main(String[] a) throws Exception {
        KafkaConsumer<byte[], byte[]> consumer = new KafkaConsumer<>(config(a));
        Thread main = Thread.currentThread();
        AtomicBoolean ended = new AtomicBoolean();
        Runtime.getRuntime().addShutdownHook(new Thread(() -> {
            ended.set(true);
            try { main.join(20000); } catch (InterruptedException ignored) { }
        }));
        new Member(consumer, event -> {
            System.out.println("@ " + System.currentTimeMillis() + " " + event);
            System.out.flush();
        }).live(a[2], ended::get);
    }

    // Reads and commits until it is told to end, and leaves.
    void live(String topic, BooleanSupplier ended) {
        say.accept("join");
        consumer.subscribe(List.of(topic), new ConsumerRebalanceListener() {
            public void onPartitionsAssigned(Collection<TopicPartition> partitions) {
                say.accept("epoch " + consumer.groupMetadata().generationId());
                say.accept("own " + numbers(partitions));
            }
            public void onPartitionsRevoked(Collection<TopicPartition> partitions) {
                commit();
                pending.keySet().removeAll(partitions);
                say.accept("give " + numbers(partitions));
            }
            public void onPartitionsLost(Collection<TopicPartition> partitions) {
                pending.keySet().removeAll(partitions);
                say.accept("lost " + numbers(partitions));
            }
        });
        while (!ended.getAsBoolean()) {
            ConsumerRecords<byte[], byte[]> records = consumer.poll(Duration.ofMillis(200));
            for (TopicPartition p : records.partitions()) {
                List<ConsumerRecord<byte[], byte[]>> some = records.records(p);
                say.accept("got " + p.partition() + " " + some.get(0).offset() + " " + (some.get(some.size() - 1).offset() + 1));
            }
            pending.putAll(records.nextOffsets());
            commit();
        }
        consumer.close(CloseOptions.timeout(Duration.ofSeconds(10)));
        say.accept("closed");
    }

    // A broker that is away is waited for; what is refused in a rebalance is tried again with what is read next.
    void commit() {
        while (!pending.isEmpty()) {
            try {
                consumer.commitSync(pending, Duration.ofSeconds(5));
                pending.forEach((p, o) -> say.accept("kept " + p.partition() + " " + o.offset()));
                pending.clear();
            } catch (TimeoutException again) {
            } catch (RebalanceInProgressException later) {
                say.accept("refused");
                return;
            } catch (CommitFailedException | FencedInstanceIdException refused) {
                say.accept("refused");
                pending.clear();
            }
        }
    }
}
