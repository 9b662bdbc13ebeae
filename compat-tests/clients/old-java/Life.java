// Life BOOTSTRAP TOPIC: what a service does with a Java client of years ago, from making its topic to deleting it. Compiled
// against the oldest. Ends with status 0 when every record came, and a second start went on where the first was.
import java.util.*;
import java.util.concurrent.*;
import java.util.concurrent.atomic.AtomicInteger;
import org.apache.kafka.clients.admin.*;
import org.apache.kafka.clients.consumer.*;
import org.apache.kafka.clients.producer.*;
import org.apache.kafka.common.KafkaException;
import org.apache.kafka.common.TopicPartition;
import org.apache.kafka.common.config.ConfigResource;
import org.apache.kafka.common.serialization.*;

public class Life {
    static final int PARTITIONS = 3, RECORDS = 200;
    static final String[] CODECS = {"none", "gzip", "snappy", "lz4"};
    static String bootstrap, topic;

    static Properties with(Object... more) {
        Properties config = new Properties();
        config.put("bootstrap.servers", bootstrap);
        for (int i = 0; i < more.length; i += 2) config.put((String) more[i], more[i + 1]);
        return config;
    }

    static void check(Object want, Object found) {
        if (!want.equals(found)) throw new AssertionError(found + " instead of " + want);
    }

    static void makeTopic() throws Exception {
        try (AdminClient admin = AdminClient.create(with())) {
            NewTopic made = new NewTopic(topic, PARTITIONS, (short) 1).configs(Collections.singletonMap("retention.ms", "600000"));
            admin.createTopics(Collections.singleton(made)).all().get(30, TimeUnit.SECONDS);
            check(1, admin.describeCluster().nodes().get().size());
            check(PARTITIONS, admin.describeTopics(Collections.singleton(topic)).values().get(topic).get().partitions().size());
            ConfigResource named = new ConfigResource(ConfigResource.Type.TOPIC, topic);
            check("600000", config(admin, named));
            Collection<ConfigEntry> longer = Collections.singleton(new ConfigEntry("retention.ms", "700000"));
            admin.alterConfigs(Collections.singletonMap(named, new Config(longer))).all().get();
            check("700000", config(admin, named));
        }
    }

    static String config(AdminClient admin, ConfigResource named) throws Exception {
        return admin.describeConfigs(Collections.singleton(named)).all().get().get(named).get("retention.ms").value();
    }

    static Set<String> send(String word, String codec) throws Exception {
        Set<String> values = new TreeSet<>();
        Properties config = with("acks", "all", "enable.idempotence", true, "compression.type", codec, "linger.ms", 5);
        try (KafkaProducer<String, String> producer = new KafkaProducer<>(config, new StringSerializer(), new StringSerializer())) {
            List<Future<RecordMetadata>> sent = new ArrayList<>();
            for (int i = 0; i < RECORDS; i++) {
                values.add(word + " " + i);
                sent.add(producer.send(new ProducerRecord<>(topic, "key " + i, word + " " + i)));
            }
            for (Future<RecordMetadata> one : sent) one.get(60, TimeUnit.SECONDS);
        }
        return values;
    }

    // Two members share the topic until they have all of `want`, and commit what they read. How many records came.
    static int read(Set<String> want) throws Exception {
        Set<String> left = Collections.synchronizedSet(new TreeSet<>(want));
        AtomicInteger count = new AtomicInteger();
        long until = System.currentTimeMillis() + 60_000;
        Callable<Void> member = () -> {
            Properties config = with("group.id", topic, "auto.offset.reset", "earliest", "enable.auto.commit", false);
            try (KafkaConsumer<String, String> consumer = new KafkaConsumer<>(config, new StringDeserializer(), new StringDeserializer())) {
                consumer.subscribe(Collections.singleton(topic));
                while (!left.isEmpty() && System.currentTimeMillis() < until) {
                    for (ConsumerRecord<String, String> record : consumer.poll(100)) {
                        count.incrementAndGet();
                        left.remove(record.value());
                    }
                    try {
                        consumer.commitSync();
                    } catch (KafkaException rebalance) {
                        // Whoever has the partition next reads it again.
                    }
                }
            }
            return null;
        };
        ExecutorService both = Executors.newFixedThreadPool(2);
        for (Future<Void> one : both.invokeAll(Arrays.asList(member, member))) one.get();
        both.shutdown();
        check(Collections.emptySet(), left);
        return count.get();
    }

    static void lookUp() {
        try (KafkaConsumer<String, String> consumer = new KafkaConsumer<>(with(), new StringDeserializer(), new StringDeserializer())) {
            Map<TopicPartition, Long> times = new HashMap<>();
            for (int i = 0; i < PARTITIONS; i++) times.put(new TopicPartition(topic, i), 0L);
            long all = 0;
            for (long end : consumer.endOffsets(times.keySet()).values()) all += end;
            check((CODECS.length + 1L) * RECORDS, all);
            for (OffsetAndTimestamp first : consumer.offsetsForTimes(times).values()) check(0L, first.offset());
        }
    }

    public static void main(String[] a) throws Exception {
        bootstrap = a[0];
        topic = a[1];
        makeTopic();
        Set<String> sent = new TreeSet<>();
        for (String codec : CODECS) sent.addAll(send(codec, codec));
        read(sent);
        // At least once is what a group promises; it does not begin anew.
        int came = read(send("later", "none"));
        if (came > RECORDS * 3) throw new AssertionError(came + " records instead of " + RECORDS);
        lookUp();
        try (AdminClient admin = AdminClient.create(with())) {
            admin.deleteTopics(Collections.singleton(topic)).all().get();
        }
        System.out.println("lived");
    }
}
