// member.js BOOTSTRAP GROUP TOPIC: a member of a group through kafkajs. It says what it owns, reads and commits, a line
// an event (compat-tests/src/member.rs reads them), until it is told to end (SIGTERM), and then leaves.
const modules = process.env.NODE_MODULES;
const { Kafka, AssignerProtocol: { MemberMetadata, MemberAssignment }, logLevel } = require(modules + '/kafkajs');
const [bootstrap, groupId, topic] = process.argv.slice(2);
const say = (event) => process.stdout.write(`@ ${Date.now()} ${event}\n`);

// kafkajs has an assigner of its own name only; this one has the name that all others have, so that they can be mixed.
const range = ({ cluster }) => ({
  name: 'range',
  version: 0,
  protocol: ({ topics }) => ({ name: 'range', metadata: MemberMetadata.encode({ version: 0, topics, userData: Buffer.alloc(0) }) }),
  async assign({ members, topics }) {
    const ids = members.map(({ memberId }) => memberId).sort();
    const given = Object.fromEntries(ids.map((id) => [id, {}]));
    for (const name of topics) {
      const partitions = cluster.findTopicPartitionMetadata(name).map(({ partitionId }) => partitionId).sort((a, b) => a - b);
      ids.forEach((id, at) => {
        const from = Math.floor((at * partitions.length) / ids.length);
        given[id][name] = partitions.slice(from, Math.floor(((at + 1) * partitions.length) / ids.length));
      });
    }
    return ids.map((memberId) => ({ memberId, memberAssignment: MemberAssignment.encode({ version: 0, assignment: given[memberId], userData: Buffer.alloc(0) }) }));
  },
});

async function main() {
  const kafka = new Kafka({ clientId: 'member', brokers: [bootstrap], logLevel: logLevel.ERROR, retry: { initialRetryTime: 100, maxRetryTime: 1000, retries: 1000 } });
  const consumer = kafka.consumer({ groupId, sessionTimeout: 6000, heartbeatInterval: 500, rebalanceTimeout: 20000, metadataMaxAge: 2000, maxWaitTimeInMs: 200, partitionAssigners: [range] });
  let owned = [];
  const give = () => { say('give ' + owned.join(',')); owned = []; };
  consumer.on(consumer.events.GROUP_JOIN, ({ payload }) => { owned = payload.memberAssignment[topic] || []; say('own ' + owned.join(',')); });
  consumer.on(consumer.events.REBALANCING, give);
  await consumer.connect();
  await consumer.subscribe({ topics: [topic], fromBeginning: true });
  await consumer.run({
    autoCommit: false,
    eachBatchAutoResolve: false,
    eachBatch: async ({ batch, resolveOffset, heartbeat, isStale }) => {
      if (isStale() || batch.isEmpty()) return;
      const after = Number(batch.lastOffset()) + 1;
      say(`got ${batch.partition} ${batch.firstOffset()} ${after}`);
      try {
        await consumer.commitOffsets([{ topic, partition: batch.partition, offset: String(after) }]);
      } catch (error) {
        say('refused ' + error);
        throw error;
      }
      say(`kept ${batch.partition} ${after}`);
      resolveOffset(batch.lastOffset());
      await heartbeat();
    },
  });
  process.on('SIGTERM', async () => {
    await consumer.stop();
    give();
    await consumer.disconnect();
    say('closed');
    process.exit(0);
  });
}
main().catch((error) => { console.error(error); process.exit(1); });
