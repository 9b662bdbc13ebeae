// Lines produce|consume BOOTSTRAP TOPIC FILE [CODEC|PARTITIONS]: the file's lines, each `key TAB value`, through the
// Java client. Consuming writes FILE.<partition>, from the beginning to the end that stands at the start.
import java.io.*;
import java.nio.charset.StandardCharsets;
import java.nio.file.*;
import java.time.Duration;
import java.util.*;
import java.util.concurrent.atomic.AtomicReference;
import org.apache.kafka.clients.consumer.KafkaConsumer;
import org.apache.kafka.clients.producer.*;
import org.apache.kafka.common.TopicPartition;
import org.apache.kafka.common.serialization.*;

public class Lines {
    public static void main(String[] a) throws Exception {
        if (a[0].equals("produce")) produce(a[1], a[2], a[3], a.length > 4 ? a[4] : "none");
        else consume(a[1], a[2], a[3]);
    }

    static void produce(String bootstrap, String topic, String file, String codec) throws Exception {
        Map<String, Object> config = Map.of(
            "bootstrap.servers", bootstrap, "acks", "all", "compression.type", codec, "linger.ms", 5,
            "delivery.timeout.ms", 120000, "key.serializer", ByteArraySerializer.class, "value.serializer", ByteArraySerializer.class);
        AtomicReference<Exception> failed = new AtomicReference<>();
        // With ACKED set, the keys that were acknowledged are written there as they are.
        String ackedPath = System.getenv("ACKED");
        PrintStream acked = ackedPath == null ? null : new PrintStream(new FileOutputStream(ackedPath), true);
        try (KafkaProducer<byte[], byte[]> producer = new KafkaProducer<>(config);
             InputStream in = new BufferedInputStream(Files.newInputStream(Path.of(file)), 1 << 20)) {
            for (byte[] line; (line = line(in)) != null; ) {
                int tab = 0;
                while (line[tab] != '\t') tab++;
                byte[] key = Arrays.copyOfRange(line, 0, tab);
                producer.send(new ProducerRecord<>(topic, key, Arrays.copyOfRange(line, tab + 1, line.length)), (meta, error) -> {
                    if (error != null) failed.compareAndSet(null, error);
                    else if (acked != null) acked.println(new String(key, StandardCharsets.UTF_8) + "\t" + meta.partition() + "\t" + meta.offset());
                });
            }
        }
        if (acked != null) acked.close();
        if (failed.get() != null) throw failed.get();
    }

    static byte[] line(InputStream in) throws IOException {
        ByteArrayOutputStream line = new ByteArrayOutputStream(128);
        int b;
        while ((b = in.read()) != -1 && b != '\n') line.write(b);
        return b == -1 && line.size() == 0 ? null : line.toByteArray();
    }

    static void consume(String bootstrap, String topic, String out) throws Exception {
        Map<String, Object> config = Map.of("bootstrap.servers", bootstrap, "auto.offset.reset", "none",
            "key.deserializer", ByteArrayDeserializer.class, "value.deserializer", ByteArrayDeserializer.class);
        try (KafkaConsumer<byte[], byte[]> consumer = new KafkaConsumer<>(config)) {
            List<TopicPartition> partitions = consumer.partitionsFor(topic).stream().map(p -> new TopicPartition(topic, p.partition())).toList();
            consumer.assign(partitions);
            consumer.seekToBeginning(partitions);
            Map<TopicPartition, Long> ends = consumer.endOffsets(partitions);
            Map<TopicPartition, OutputStream> files = new HashMap<>();
            for (TopicPartition p : partitions) files.put(p, new BufferedOutputStream(new FileOutputStream(out + "." + p.partition()), 1 << 20));
            while (partitions.stream().anyMatch(p -> consumer.position(p) < ends.get(p))) {
                for (var record : consumer.poll(Duration.ofSeconds(1))) {
                    TopicPartition p = new TopicPartition(topic, record.partition());
                    if (record.offset() >= ends.get(p)) continue;
                    OutputStream file = files.get(p);
                    file.write(record.key()); file.write('\t'); file.write(record.value()); file.write('\n');
                }
            }
            for (OutputStream file : files.values()) file.close();
        }
    }
}
