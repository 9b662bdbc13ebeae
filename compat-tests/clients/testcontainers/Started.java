// Java's own Testcontainers modules start an image in the place of Apache's and Confluent's, and a
// client of theirs uses it. Usage: Started IMAGE
import java.time.Duration;
import java.util.List;
import java.util.Map;
import java.util.concurrent.Callable;
import org.apache.kafka.clients.consumer.KafkaConsumer;
import org.apache.kafka.clients.producer.KafkaProducer;
import org.apache.kafka.clients.producer.ProducerRecord;
import org.apache.kafka.common.serialization.StringDeserializer;
import org.apache.kafka.common.serialization.StringSerializer;
import org.testcontainers.containers.GenericContainer;
import org.testcontainers.utility.DockerImageName;

public class Started {
    public static void main(String[] args) throws Exception {
        DockerImageName image = DockerImageName.parse(args[0]);
        DockerImageName apache = image.asCompatibleSubstituteFor("apache/kafka");
        DockerImageName confluent = image.asCompatibleSubstituteFor("confluentinc/cp-kafka");
        check("org.testcontainers.kafka.KafkaContainer", () -> new org.testcontainers.kafka.KafkaContainer(apache),
            it -> ((org.testcontainers.kafka.KafkaContainer) it).getBootstrapServers());
        check("org.testcontainers.kafka.ConfluentKafkaContainer",
            () -> new org.testcontainers.kafka.ConfluentKafkaContainer(confluent),
            it -> ((org.testcontainers.kafka.ConfluentKafkaContainer) it).getBootstrapServers());
        check("org.testcontainers.containers.KafkaContainer",
            () -> new org.testcontainers.containers.KafkaContainer(confluent),
            it -> ((org.testcontainers.containers.KafkaContainer) it).getBootstrapServers());
        check("org.testcontainers.containers.KafkaContainer with KRaft",
            () -> new org.testcontainers.containers.KafkaContainer(confluent).withKraft(),
            it -> ((org.testcontainers.containers.KafkaContainer) it).getBootstrapServers());
    }

    interface Where { String of(GenericContainer<?> container); }

    static void check(String name, Callable<GenericContainer<?>> make, Where where) throws Exception {
        long begun = System.nanoTime();
        try (GenericContainer<?> container = make.call()) {
            container.start();
            String at = where.of(container);
            try (var producer = new KafkaProducer<>(Map.<String, Object>of("bootstrap.servers", at),
                    new StringSerializer(), new StringSerializer())) {
                producer.send(new ProducerRecord<>("topic", "key", "value")).get();
            }
            Map<String, Object> reading =
                Map.of("bootstrap.servers", at, "group.id", "readers", "auto.offset.reset", "earliest");
            try (var consumer =
                    new KafkaConsumer<>(reading, new StringDeserializer(), new StringDeserializer())) {
                consumer.subscribe(List.of("topic"));
                int count = 0;
                for (int tries = 0; count == 0 && tries < 30; tries++) {
                    count = consumer.poll(Duration.ofSeconds(1)).count();
                }
                if (count != 1) throw new IllegalStateException(name + ": " + count + " records");
            }
        }
        System.out.printf("%s: ok in %.1f s%n", name, (System.nanoTime() - begun) / 1e9);
    }
}
