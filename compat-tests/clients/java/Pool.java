// Pool BOOTSTRAP GROUP TOPIC eager|cooperative|consumer NAME COUNT CALM [KEY=VALUE...]: COUNT members of a group in one
// process. Until CALM (milliseconds since 1970) each lives for some seconds, leaves, and comes again under a new name;
// from then on all stay. They say what they own, read and commit, a line an event with a name (compat-tests/src/member.rs
// reads them), until the process is told to end (SIGTERM), and then leave.
import java.util.*;
import java.util.concurrent.CyclicBarrier;
import java.util.concurrent.ThreadLocalRandom;
import org.apache.kafka.clients.consumer.KafkaConsumer;

public class Pool {
    static volatile boolean ended = false;

    // A line at a time, and written when this comes back: what a member said stands there before it acts on it, also
    // when the process is killed then.
    static synchronized void write(String line) {
        System.out.println(line);
        System.out.flush();
    }

    public static void main(String[] a) throws Exception {
        String[] words = new String[a.length - 3];
        System.arraycopy(a, 0, words, 0, 4);
        System.arraycopy(a, 7, words, 4, a.length - 7);
        int count = Integer.parseInt(a[5]);
        long calm = Long.parseLong(a[6]);
        CyclicBarrier together = new CyclicBarrier(count);
        List<Thread> slots = new ArrayList<>();
        for (int i = 0; i < count; i++) {
            int slot = i;
            Thread thread = new Thread(() -> {
                try { lives(words, a[4] + "." + slot, calm, together); } catch (Exception error) { error.printStackTrace(); System.exit(1); }
            });
            slots.add(thread);
            thread.start();
        }
        Runtime.getRuntime().addShutdownHook(new Thread(() -> {
            ended = true;
            try {
                for (Thread slot : slots) slot.join(30000);
            } catch (InterruptedException ignored) { }
        }));
        for (Thread slot : slots) slot.join();
    }

    static void lives(String[] words, String name, long calm, CyclicBarrier together) throws Exception {
        ThreadLocalRandom chance = ThreadLocalRandom.current();
        // At first all come at once.
        KafkaConsumer<byte[], byte[]> first = new KafkaConsumer<>(Member.config(words));
        together.await();
        for (int life = 0; !ended; life++) {
            long end = System.currentTimeMillis() + chance.nextLong(2000, 30000);
            KafkaConsumer<byte[], byte[]> consumer = life == 0 ? first : new KafkaConsumer<>(Member.config(words));
            String own = "@" + name + "." + life + " ";
            new Member(consumer, event -> write(own + System.currentTimeMillis() + " " + event))
                .live(words[2], () -> ended || end < calm && end <= System.currentTimeMillis());
            if (!ended) Thread.sleep(chance.nextLong(0, 3000));
        }
    }
}
