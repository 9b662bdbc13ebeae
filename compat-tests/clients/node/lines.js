// lines.js produce BOOTSTRAP TOPIC FILE [none|gzip|snappy]: the file's lines, each `key TAB value`, through kafkajs.
const fs = require('fs');
const modules = process.env.NODE_MODULES;
const { Kafka, CompressionTypes, CompressionCodecs, logLevel } = require(modules + '/kafkajs');
const [what, bootstrap, topic, file, codec = 'none'] = process.argv.slice(2);

async function main() {
  if (what !== 'produce') throw new Error('lines.js only produces: kafkajs has no consumer without a group');
  if (codec === 'snappy') CompressionCodecs[CompressionTypes.Snappy] = require(modules + '/kafkajs-snappy');
  const types = { none: CompressionTypes.None, gzip: CompressionTypes.GZIP, snappy: CompressionTypes.Snappy };
  const kafka = new Kafka({ clientId: 'lines', brokers: [bootstrap], logLevel: logLevel.ERROR });
  const producer = kafka.producer({ idempotent: true, maxInFlightRequests: 1 });
  await producer.connect();
  let batch = [];
  const send = async () => {
    if (batch.length) await producer.send({ topic, messages: batch, acks: -1, compression: types[codec] });
    batch = [];
  };
  const data = fs.readFileSync(file);
  for (let at = 0; at < data.length; ) {
    let end = data.indexOf(10, at);
    if (end < 0) end = data.length;
    const tab = data.indexOf(9, at);
    batch.push({ key: data.subarray(at, tab), value: data.subarray(tab + 1, end) });
    if (batch.length === 5000) await send();
    at = end + 1;
  }
  await send();
  await producer.disconnect();
}
main().catch((error) => { console.error(error); process.exit(1); });
