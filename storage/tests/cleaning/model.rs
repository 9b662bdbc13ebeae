//! Any order of batches, ends of transactions, passes and restarts.

use crate::world::{Record, World};
use proptest::prelude::*;
use protocol::compression::Codec;

#[derive(Clone, Debug)]
enum Step {
    Send { producer: i64, codec: Codec, records: Vec<Record> },
    EndTxn { producer: i64, is_committed: bool },
    Roll,
    Wait(i64),
    Clean { map_bytes: usize },
    Restart { loses_snapshots: bool },
}

fn step() -> impl Strategy<Value = Step> {
    let record = (0..12_u8, proptest::option::weighted(0.8, 0..60_usize));
    let records = proptest::collection::vec(record, 1..7);
    let codec = proptest::sample::select(&Codec::ALL);
    prop_oneof![
        12 => (-1..4_i64, codec, records)
            .prop_map(|(producer, codec, records)| Step::Send { producer, codec, records }),
        4 => (2..4_i64, any::<bool>())
            .prop_map(|(producer, is_committed)| Step::EndTxn { producer, is_committed }),
        2 => Just(Step::Roll),
        1 => (1..2500_i64).prop_map(Step::Wait),
        3 => prop_oneof![Just(1 << 16), Just(200)].prop_map(|map_bytes| Step::Clean { map_bytes }),
        1 => any::<bool>().prop_map(|loses_snapshots| Step::Restart { loses_snapshots }),
    ]
}

fn take(world: &mut World, step: Step) {
    match step {
        Step::Send { producer, codec, records } => world.send(producer, codec, &records),
        Step::EndTxn { producer, is_committed } => world.end_txn(producer, is_committed),
        Step::Roll => world.log.roll(world.now_ms).unwrap(),
        Step::Wait(ms) => world.now_ms += ms,
        Step::Clean { map_bytes } => {
            let before = world.clean_to;
            let cleaned = world.clean(map_bytes).unwrap();
            assert!(before <= cleaned.end);
            world.check(&world.log);
            world.check_clean();
        }
        Step::Restart { loses_snapshots } => {
            world.restart(loses_snapshots);
            world.check(&world.log);
            world.check_producers();
        }
    }
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 120, failure_persistence: None, ..ProptestConfig::default() })]
    #[test]
    fn the_last_record_of_each_key_stays(steps in proptest::collection::vec(step(), 1..80)) {
        let mut world = World::new(1);
        for step in steps {
            take(&mut world, step);
        }
        world.end_all();
        world.log.roll(world.now_ms).unwrap();
        take(&mut world, Step::Clean { map_bytes: 1 << 16 });
        assert_eq!(world.clean_to, world.log.log_end());
        world.now_ms += 10_000;
        take(&mut world, Step::Clean { map_bytes: 1 << 16 });
        take(&mut world, Step::Restart { loses_snapshots: true });
    }
}
