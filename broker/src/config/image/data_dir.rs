//! Where an image keeps its logs when nobody says where.

use std::path::Path;

/// Places that images declare as volumes, the first one that is mounted counts.
const VOLUMES: [(&str, &str); 3] = [
    ("/var/lib/kafka/data", "/var/lib/kafka/data"),
    ("/bitnami/kafka/data", "/bitnami"),
    ("/kafka", "/kafka"),
];

/// What is known of mounted file systems.
#[derive(Clone, Debug, Default)]
pub struct Mounts {
    points: Vec<String>,
}

impl Mounts {
    /// Of `/proc/self/mountinfo`: the fifth word of each line is where something is mounted.
    pub fn parse(text: &str) -> Mounts {
        let points = text.lines().filter_map(|line| line.split(' ').nth(4)).map(str::to_owned);
        Mounts { points: points.collect() }
    }

    /// Whether something is mounted at `path`, or above it and below `top` or at it.
    fn holds(&self, path: &str, top: &str) -> bool {
        let is_above = |point: &str| Path::new(path).starts_with(point);
        self.points.iter().any(|point| is_above(point) && Path::new(point).starts_with(top))
    }
}

/// `own` where it is kept, else the first volume that is mounted, so that what somebody means to
/// keep is kept; with no volume at all it is `own` again.
pub(super) fn choose(own: &str, mounts: &Mounts) -> String {
    let is_kept = mounts.holds(own, own) || VOLUMES.iter().any(|(dir, _)| own.starts_with(dir));
    let mounted = VOLUMES.iter().find(|(dir, top)| mounts.holds(dir, top));
    match mounted {
        Some((dir, _)) if !is_kept => (*dir).to_owned(),
        Some(_) | None => own.to_owned(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn data_lies_where_something_is_mounted() {
        let check = |own: &str, points: &[&str], want: &str| {
            let text: String =
                points.iter().map(|point| format!("1 2 8:1 / {point} rw - ext4 x rw\n")).collect();
            assert_eq!(choose(own, &Mounts::parse(&text)), want, "{own} {points:?}");
        };
        let tmp = "/tmp/kraft-combined-logs";
        check(tmp, &["/", "/tmp"], tmp);
        check(tmp, &["/", "/var/lib/kafka/data"], "/var/lib/kafka/data");
        check(tmp, &["/var/lib/kafka/data", tmp], tmp);
        check(tmp, &["/bitnami"], "/bitnami/kafka/data");
        check(tmp, &["/bitnami/kafka"], "/bitnami/kafka/data");
        check(tmp, &["/kafka"], "/kafka");
        check(tmp, &["/var/lib"], tmp);
        check("/bitnami/kafka/data", &["/var/lib/kafka/data"], "/bitnami/kafka/data");
        check("/kafka/kafka-logs-a", &["/kafka", "/var/lib/kafka/data"], "/kafka/kafka-logs-a");
    }
}
