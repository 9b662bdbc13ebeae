//! The text form is Kafka's, a crash leaves the old or the new, and hostile files are told apart.

use super::*;
use crate::disk::sim::SimDisk;
use proptest::prelude::*;

const PATH: &str = "/recovery-point-offset-checkpoint";

fn path() -> &'static Path {
    Path::new(PATH)
}

fn holding(bytes: &[u8]) -> SimDisk {
    let disk = SimDisk::default();
    disk.create(path()).unwrap().write_all_at(0, bytes).unwrap();
    disk
}

fn some() -> Offsets {
    [("a", 0, 7), ("a.b-c", 11, i64::MAX), ("__cluster_metadata", 0, 0)]
        .map(|(topic, partition, offset)| (TopicPartition::new(topic, partition), offset))
        .into()
}

#[test]
fn the_files_are_kafkas() {
    let disk = SimDisk::default();
    write_offsets(&disk, path(), &some()).unwrap();
    let read = |path: &Path| disk::read_whole(&*disk.open(path).unwrap(), 1000).unwrap();
    let want = "0\n3\n__cluster_metadata 0 0\na 0 7\na.b-c 11 9223372036854775807\n";
    assert_eq!(String::from_utf8(read(path())).unwrap(), want);
    assert_eq!(read_offsets(&disk, path()).unwrap(), some());

    let epochs = Path::new("/leader-epoch-checkpoint");
    assert_eq!(read_epochs(&disk, epochs).unwrap(), None);
    write_epochs(&disk, epochs, &[(0, 0), (3, 99)]).unwrap();
    assert_eq!(read(epochs), b"0\n2\n0 0\n3 99\n");
    assert_eq!(read_epochs(&disk, epochs).unwrap(), Some(vec![(0, 0), (3, 99)]));
    assert_eq!(read_offsets(&disk, Path::new("/absent")).unwrap(), Offsets::new());
    assert_eq!(read_offsets(&holding(b""), path()).unwrap(), Offsets::new());
    assert_eq!(read_epochs(&holding(b""), path()).unwrap(), None);
}

#[test]
fn what_is_malformed_is_said_and_nothing_of_it_taken() {
    let long = format!("0\n1\n{}\n", "x".repeat(100_000));
    for (text, reason) in [
        ("\n", "unknown version ''"),
        ("1\n0\n", "unknown version '1'"),
        ("0\n", "'' is no number of entries"),
        ("0\n-1\n", "'-1' is no number of entries"),
        ("0\n99999999999999999999\n", "'99999999999999999999' is no number of entries"),
        ("0\n2\na 0 1\n", "2 entries were announced, but 1 are there"),
        ("0\n1\na 0 1\nb 0 1\n", "1 entries were announced, but 2 are there"),
        ("0\n1\na 0\n", "malformed line 'a 0'"),
        ("0\n1\na 0 1 2\n", "malformed line 'a 0 1 2'"),
        ("0\n1\na -1 1\n", "malformed line 'a -1 1'"),
        ("0\n1\na 0 9223372036854775808\n", "malformed line 'a 0 9223372036854775808'"),
        ("0\n1\n\0\0\0\0", "malformed line '\0\0\0\0'"),
        (&long, &format!("malformed line '{}'", "x".repeat(80))),
    ] {
        match read_offsets(&holding(text.as_bytes()), path()) {
            Err(Error::Malformed { path: at, reason: said }) => {
                assert_eq!((at.as_path(), said.as_str()), (path(), reason), "{text:?}");
            }
            other => panic!("{text:?}: {other:?}"),
        }
    }
    let said = read_offsets(&holding(b"0\n1\n\xff"), path()).unwrap_err().to_string();
    assert_eq!(said, format!("{PATH}: not a text file"));
    assert_eq!(read_offsets(&holding(b"0\r\n1\r\na\t0  1\r\n"), path()).unwrap().len(), 1);
}

#[test]
fn a_crash_at_any_point_leaves_the_old_checkpoint_or_the_new_one() {
    let [old, new] = [1, 2].map(|offset| Offsets::from([(TopicPartition::new("t", 0), offset)]));
    for n in 0..20 {
        let disk = SimDisk::new(n);
        write_offsets(&disk, path(), &old).unwrap();
        disk.crash_at(disk.operations() + n);
        let written = write_offsets(&disk, path(), &new);
        for seed in 0..30 {
            let left = disk.crash(seed);
            let read = read_offsets(&left, path()).unwrap();
            assert!(read == new || (written.is_err() && read == old), "{n} {seed}: {read:?}");
            // What lies beside it does not stop the next one.
            write_offsets(&left, path(), &new).unwrap();
        }
    }
}

proptest! {
    #[test]
    fn what_was_written_is_read(
        entries in prop::collection::btree_map(("[a-zA-Z0-9._-]{1,249}", 0..i32::MAX), any::<i64>(), 0..20)
    ) {
        let offsets: Offsets = entries
            .into_iter()
            .map(|((topic, partition), offset)| (TopicPartition::new(topic, partition), offset))
            .collect();
        let disk = SimDisk::default();
        write_offsets(&disk, path(), &offsets).unwrap();
        prop_assert_eq!(read_offsets(&disk, path()).unwrap(), offsets);
    }

    #[test]
    fn no_bytes_panic(bytes in prop::collection::vec(any::<u8>(), 0..200)) {
        let disk = holding(&bytes);
        let read = read_offsets(&disk, path());
        prop_assert!(matches!(read, Ok(_) | Err(Error::Malformed { .. })), "{:?}", read);
        let read = read_epochs(&disk, path());
        prop_assert!(matches!(read, Ok(_) | Err(Error::Malformed { .. })), "{:?}", read);
    }
}
