"""member.py CLIENT BOOTSTRAP GROUP TOPIC eager|cooperative|consumer: a member of a group through CLIENT: confluent,
kafka-python or aiokafka. It says what it owns, reads and commits, a line an event (compat-tests/src/member.rs reads
them), until it is told to end (SIGTERM), and then leaves."""
import asyncio
import signal
import sys
import time

client, bootstrap, group, topic, mode = sys.argv[1:6]
ended = False


def say(event):
    print("@", int(time.time() * 1000), event, flush=True)


def numbers(partitions):
    return ",".join(str(p.partition) for p in partitions)


def end(*_):
    global ended
    ended = True


signal.signal(signal.SIGTERM, end)


def confluent():
    from confluent_kafka import Consumer, KafkaError, KafkaException, TopicPartition

    config = {"bootstrap.servers": bootstrap, "group.id": group, "enable.auto.commit": False,
              "auto.offset.reset": "earliest", "topic.metadata.refresh.interval.ms": 2000,
              # Partitions are fetched from at once, and a broker that was away is found again at once.
              "fetch.error.backoff.ms": 100, "reconnect.backoff.max.ms": 500}
    if mode == "consumer":
        config["group.protocol"] = "consumer"
    else:
        config |= {"session.timeout.ms": 6000, "heartbeat.interval.ms": 500,
                   "partition.assignment.strategy": "cooperative-sticky" if mode == "cooperative" else "range"}
    consumer = Consumer(config)
    passing = {KafkaError._TRANSPORT, KafkaError._TIMED_OUT, KafkaError._WAIT_COORD, KafkaError._ALL_BROKERS_DOWN,
               KafkaError.COORDINATOR_NOT_AVAILABLE, KafkaError.COORDINATOR_LOAD_IN_PROGRESS,
               KafkaError.NOT_COORDINATOR, KafkaError._DESTROY}

    # What was read and is not committed yet; what is refused in a rebalance is tried again with what is read next.
    pending = {}

    def commit():
        while pending:
            try:
                offsets = [TopicPartition(topic, p, after) for p, after in pending.items()]
                for kept in consumer.commit(offsets=offsets, asynchronous=False):
                    if kept.error:
                        raise KafkaException(kept.error)
                    say(f"kept {kept.partition} {kept.offset}")
                pending.clear()
            except KafkaException as error:
                if error.args[0].code() not in passing:
                    say(f"refused {error}")
                    return
                time.sleep(0.1)

    def revoked(_, partitions):
        commit()
        taken(partitions, "give ")

    def taken(partitions, what):
        for p in partitions:
            pending.pop(p.partition, None)
        say(what + numbers(partitions))

    consumer.subscribe([topic], on_assign=lambda _, p: say("own " + numbers(p)), on_revoke=revoked,
                       on_lost=lambda _, p: taken(p, "lost "))
    while not ended:
        read = {}
        for message in consumer.consume(1000, 0.1):
            if message.error():
                print(message.error(), file=sys.stderr)
                continue
            first, _ = read.get(message.partition(), (message.offset(), 0))
            read[message.partition()] = first, message.offset() + 1
        for partition, (first, after) in read.items():
            say(f"got {partition} {first} {after}")
            pending[partition] = after
        commit()
    consumer.close()


def kafka_python():
    from kafka import ConsumerRebalanceListener, KafkaConsumer
    from kafka.coordinator.assignors.range import RangePartitionAssignor
    from kafka.errors import CommitFailedError, KafkaError
    from kafka.structs import OffsetAndMetadata

    class Listener(ConsumerRebalanceListener):
        def on_partitions_assigned(self, assigned):
            say("own " + numbers(assigned))

        def on_partitions_revoked(self, revoked):
            say("give " + numbers(revoked))

    def commit(offsets):
        while True:
            try:
                consumer.commit(offsets)
                for p, kept in offsets.items():
                    say(f"kept {p.partition} {kept.offset}")
                return
            except CommitFailedError as error:
                say(f"refused {error}")
                return
            except KafkaError as error:
                print(error, file=sys.stderr)
                time.sleep(0.1)

    consumer = KafkaConsumer(bootstrap_servers=bootstrap, group_id=group, enable_auto_commit=False,
                             auto_offset_reset="earliest", metadata_max_age_ms=2000, session_timeout_ms=6000,
                             heartbeat_interval_ms=500, partition_assignment_strategy=[RangePartitionAssignor])
    consumer.subscribe([topic], listener=Listener())
    while not ended:
        read = consumer.poll(100)
        for p, records in read.items():
            say(f"got {p.partition} {records[0].offset} {records[-1].offset + 1}")
        if read:
            commit({p: OffsetAndMetadata(records[-1].offset + 1, "", -1) for p, records in read.items()})
    consumer.close()


async def aiokafka():
    from aiokafka import AIOKafkaConsumer, ConsumerRebalanceListener
    from aiokafka.coordinator.assignors.range import RangePartitionAssignor
    from aiokafka.errors import CommitFailedError, KafkaError

    class Listener(ConsumerRebalanceListener):
        async def on_partitions_assigned(self, assigned):
            say("own " + numbers(assigned))

        async def on_partitions_revoked(self, revoked):
            say("give " + numbers(revoked))

    async def commit(offsets):
        while True:
            try:
                await consumer.commit(offsets)
                for p, kept in offsets.items():
                    say(f"kept {p.partition} {kept}")
                return
            except CommitFailedError as error:
                say(f"refused {error}")
                return
            except KafkaError as error:
                print(error, file=sys.stderr)
                await asyncio.sleep(0.1)

    consumer = AIOKafkaConsumer(bootstrap_servers=bootstrap, group_id=group, enable_auto_commit=False,
                                auto_offset_reset="earliest", metadata_max_age_ms=2000, session_timeout_ms=6000,
                                heartbeat_interval_ms=500, partition_assignment_strategy=[RangePartitionAssignor])
    consumer.subscribe([topic], listener=Listener())
    await consumer.start()
    while not ended:
        read = await consumer.getmany(timeout_ms=100)
        for p, records in read.items():
            say(f"got {p.partition} {records[0].offset} {records[-1].offset + 1}")
        if read:
            await commit({p: records[-1].offset + 1 for p, records in read.items()})
    await consumer.stop()


if client == "aiokafka":
    asyncio.run(aiokafka())
else:
    {"confluent": confluent, "kafka-python": kafka_python}[client]()
say("closed")
