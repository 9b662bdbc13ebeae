//! The page of metrics, looked at again and again: what moved, and whether counters only count.

use super::metrics::scrape;
use crate::world::World;
use std::collections::{BTreeMap, BTreeSet};
use std::time::{Duration, Instant};

#[derive(Clone, Copy, Debug)]
pub(super) enum Move {
    /// By so much, from 0 where it was not there.
    By(f64),
    To(f64),
    Up,
    Down,
    Gone,
}
pub(super) type Page = BTreeMap<String, f64>;

/// See the module.
pub(super) struct Watch<'a> {
    world: &'a World,
    pub(super) last: Page,
    seen: Seen,
}

/// What pages have shown.
#[derive(Debug, Default)]
pub(super) struct Seen {
    /// The families of which anything moved.
    pub(super) moved: BTreeSet<String>,
    /// The least and the most that a family has shown, and on how many pages it was.
    pub(super) families: BTreeMap<String, (f64, f64, usize)>,
    pub(super) pages: usize,
}

impl Seen {
    fn page(&mut self, page: &Page) {
        self.pages += 1;
        let mut there = BTreeSet::new();
        for (sample, is) in page {
            let name = family(sample);
            let known = self.families.entry(name.to_owned()).or_insert((*is, *is, 0));
            *known =
                (known.0.min(*is), known.1.max(*is), known.2 + usize::from(there.insert(name)));
        }
    }

    /// What others have shown too.
    pub(super) fn add(&mut self, others: Seen) {
        self.moved.extend(others.moved);
        self.pages += others.pages;
        for (name, (least, most, pages)) in others.families {
            let known = self.families.entry(name).or_insert((least, most, 0));
            *known = (known.0.min(least), known.1.max(most), known.2 + pages);
        }
    }
}

pub(super) fn family(sample: &str) -> &str {
    sample.split('{').next().unwrap()
}

/// Whether it did, and what it shows.
fn has(last: &Page, page: &Page, sample: &str, moves: Move) -> (bool, String) {
    let (was, is) = (last.get(sample).copied(), page.get(sample).copied());
    let before = was.filter(|it| !it.is_nan()).unwrap_or(0.0);
    let did = match moves {
        Move::By(more) => is == Some(before + more),
        Move::To(value) => is == Some(value),
        Move::Up => is.is_some_and(|is| before < is),
        Move::Down => was.zip(is).is_some_and(|(was, is)| is < was),
        Move::Gone => was.is_some() && is.is_none(),
    };
    (did, format!("{sample} shall go {moves:?}: it was {was:?} and is {is:?}"))
}

impl Watch<'_> {
    pub(super) fn new(world: &World) -> Watch<'_> {
        Watch { world, last: Page::new(), seen: Seen::default() }
    }

    pub(super) fn end(self) -> Seen {
        self.seen
    }

    /// Behind `act` the page shows all of `moves`.
    pub(super) async fn saw(&mut self, act: &str, moves: &[(&str, Move)]) {
        let page = scrape(self.world).await;
        for (sample, moves) in moves {
            let (did, what) = has(&self.last, &page, sample, *moves);
            assert!(did, "{act}: {what}");
        }
        self.keep(page, moves);
    }

    /// The same for what comes in a moment.
    pub(super) async fn sees(&mut self, act: &str, moves: &[(&str, Move)]) {
        let end = Instant::now() + Duration::from_secs(30);
        loop {
            let page = scrape(self.world).await;
            let missing = moves.iter().map(|(it, to)| has(&self.last, &page, it, *to));
            let missing = missing.filter(|(did, _)| !did).map(|(_, what)| what).next();
            let Some(missing) = missing else { return self.keep(page, moves) };
            assert!(Instant::now() < end, "{act}: {missing}");
        }
    }

    fn keep(&mut self, page: Page, moves: &[(&str, Move)]) {
        for (sample, is) in &page {
            let name = family(sample);
            if name.ends_with("_total") || name.ends_with("_count") && name.contains("timems") {
                let was = self.last.get(sample).copied().unwrap_or(0.0);
                assert!(was <= *is, "{sample} counts, and went from {was} back to {is}");
            }
        }
        let names = moves.iter().map(|(sample, _)| family(sample));
        let names = names.map(|name| match name.strip_suffix("_count") {
            Some(summary) if summary.ends_with("timems") => summary,
            _ => name,
        });
        self.seen.moved.extend(names.map(str::to_owned));
        self.seen.page(&page);
        self.last = page;
    }
}

/// The names that `docs/metrics.md` promises, and their labels.
pub(super) fn promised() -> BTreeMap<String, BTreeSet<String>> {
    let page = include_str!("../../../../docs/metrics.md");
    let (page, _) = page.split_once("## Not there").unwrap();
    let rows = page.lines().filter_map(|line| line.strip_prefix("| `")?.split_once("` | "));
    let labels = |rest: &str| {
        let labels = rest.split('|').nth(1).unwrap().split(", ");
        labels.map(|it| it.trim().trim_end_matches('?').to_owned()).collect()
    };
    rows.map(|(name, rest)| (name.to_owned(), labels(rest))).collect()
}

/// Every sample has just the labels that the page in `docs` says.
pub(super) fn check_labels(page: &Page) {
    let promised = promised();
    for sample in page.keys() {
        let name = family(sample);
        let known = promised.get(name).or_else(|| promised.get(name.strip_suffix("_count")?));
        let known = known.unwrap_or_else(|| panic!("{name} is not promised"));
        let labels = sample.strip_prefix(name).unwrap().trim_matches(['{', '}']);
        for label in labels.split("\",").filter_map(|label| label.split_once('=')) {
            assert!(known.contains(label.0), "{sample}: docs/metrics.md does not say {}", label.0);
        }
    }
}
