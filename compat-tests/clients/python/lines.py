"""lines.py CLIENT produce|consume BOOTSTRAP TOPIC FILE [CODEC]: the file's lines, each `key TAB value`, through
CLIENT: confluent, kafka-python or aiokafka. Consuming writes FILE.<partition>, from the beginning to the end that
stands at the start."""
import asyncio
import sys

client, what, bootstrap, topic, path = sys.argv[1:6]
codec = sys.argv[6] if len(sys.argv) > 6 else "none"


def lines():
    with open(path, "rb") as file:
        for line in file:
            yield line.rstrip(b"\n").split(b"\t", 1)


class Out:
    """One file a partition, each up to its own end."""

    def __init__(self, ends):
        self.ends = {p: end for p, end in ends.items()}
        self.left = {p for p, end in ends.items() if end > 0}
        self.files = {p: open(f"{path}.{p}", "wb") for p in ends}

    def take(self, partition, offset, key, value):
        if offset < self.ends[partition]:
            self.files[partition].write(key + b"\t" + value + b"\n")
        if offset + 1 >= self.ends[partition]:
            self.left.discard(partition)

    def close(self):
        for file in self.files.values():
            file.close()


def confluent_produce():
    from confluent_kafka import Producer

    failed = []
    producer = Producer({"bootstrap.servers": bootstrap, "compression.type": codec, "linger.ms": 5,
                         "enable.idempotence": True, "queue.buffering.max.messages": 1000000})

    def told(error, _message):
        if error is not None:
            failed.append(error)

    for key, value in lines():
        while True:
            try:
                producer.produce(topic, value, key, on_delivery=told)
                break
            except BufferError:
                producer.poll(0.1)
        producer.poll(0)
    producer.flush()
    if failed:
        sys.exit(f"not delivered: {failed[0]}")


def confluent_consume():
    from confluent_kafka import OFFSET_BEGINNING, Consumer, TopicPartition

    consumer = Consumer({"bootstrap.servers": bootstrap, "group.id": "unused", "enable.auto.commit": False})
    numbers = consumer.list_topics(topic, 10).topics[topic].partitions
    ends = {p: consumer.get_watermark_offsets(TopicPartition(topic, p), 10)[1] for p in numbers}
    out = Out(ends)
    consumer.assign([TopicPartition(topic, p, OFFSET_BEGINNING) for p in numbers])
    while out.left:
        for message in consumer.consume(10000, 1.0):
            if message.error():
                sys.exit(str(message.error()))
            out.take(message.partition(), message.offset(), message.key(), message.value())
    out.close()
    consumer.close()


def kafka_python_produce():
    from kafka import KafkaProducer

    producer = KafkaProducer(bootstrap_servers=bootstrap, acks="all", linger_ms=5,
                             compression_type=None if codec == "none" else codec)
    sent = [producer.send(topic, value, key) for key, value in lines()]
    producer.flush()
    for future in sent:
        future.get(60)


def kafka_python_consume():
    from kafka import KafkaConsumer, TopicPartition

    consumer = KafkaConsumer(bootstrap_servers=bootstrap, group_id=None, enable_auto_commit=False)
    partitions = [TopicPartition(topic, p) for p in consumer.partitions_for_topic(topic)]
    consumer.assign(partitions)
    ends = {p.partition: end for p, end in consumer.end_offsets(partitions).items()}
    consumer.seek_to_beginning(*partitions)
    out = Out(ends)
    while out.left:
        for records in consumer.poll(1000, max_records=10000).values():
            for record in records:
                out.take(record.partition, record.offset, record.key, record.value)
    out.close()


async def aiokafka_produce():
    from aiokafka import AIOKafkaProducer

    producer = AIOKafkaProducer(bootstrap_servers=bootstrap, enable_idempotence=True, linger_ms=5,
                                compression_type=None if codec == "none" else codec)
    await producer.start()
    sent = []
    for key, value in lines():
        sent.append(await producer.send(topic, value, key))
        if len(sent) > 10000:
            await asyncio.gather(*sent)
            sent.clear()
    await asyncio.gather(*sent)
    await producer.stop()


async def aiokafka_consume():
    from aiokafka import AIOKafkaConsumer

    # Without a group it assigns itself every partition, and starts where the reset policy says. (A seek
    # would race with that policy, which answers later and wins.)
    consumer = AIOKafkaConsumer(topic, bootstrap_servers=bootstrap, group_id=None, enable_auto_commit=False,
                                auto_offset_reset="earliest")
    await consumer.start()
    partitions = list(consumer.assignment())
    ends = {p.partition: end for p, end in (await consumer.end_offsets(partitions)).items()}
    out = Out(ends)
    while out.left:
        for records in (await consumer.getmany(timeout_ms=1000, max_records=10000)).values():
            for record in records:
                out.take(record.partition, record.offset, record.key, record.value)
    out.close()
    await consumer.stop()


run = {("confluent", "produce"): confluent_produce, ("confluent", "consume"): confluent_consume,
       ("kafka-python", "produce"): kafka_python_produce, ("kafka-python", "consume"): kafka_python_consume,
       ("aiokafka", "produce"): aiokafka_produce, ("aiokafka", "consume"): aiokafka_consume}[client, what]
result = run()
if result is not None:
    asyncio.run(result)
