//! Who gets memory, and who waits.

use super::*;

fn take(lease: &mut Lease, bytes: usize) -> bool {
    lease.poll_take(&mut Context::from_waker(Waker::noop()), bytes).is_ready()
}

#[test]
fn what_fits_is_taken_and_given_back() {
    let budget = Budget::new(100);
    let mut first = budget.lease();
    assert!(take(&mut first, 60) && take(&mut first, 40));
    assert_eq!(budget.used_bytes(), 100);
    drop(first);
    assert_eq!(budget.used_bytes(), 0);
}

#[test]
fn only_the_oldest_of_those_that_wait_goes_above_the_limit() {
    let budget = Budget::new(100);
    let [mut first, mut second, mut third] = std::array::from_fn(|_| budget.lease());
    assert!(take(&mut third, 50) && take(&mut second, 50));
    assert!(take(&mut third, 1), "the only one that asks is the oldest that waits");
    assert!(!take(&mut second, 1), "one is above the limit already");
    assert!(!take(&mut first, 1));
    assert!(take(&mut third, 1000), "it may finish");
    drop(third);
    assert!(!take(&mut second, 1), "an older one waits");
    assert!(take(&mut first, 1));
    assert!(take(&mut second, 1), "there is room again");
    assert_eq!(budget.used_bytes(), 52);
}

#[test]
fn who_steps_aside_lets_the_next_one_go_first_and_has_its_turn_again() {
    let budget = Budget::new(100);
    let [mut first, mut second, mut above] = std::array::from_fn(|_| budget.lease());
    assert!(take(&mut above, 101));
    assert!(!take(&mut first, 60) && !take(&mut second, 60));
    drop(above);
    assert!(!take(&mut second, 60), "an older one waits");
    first.step_aside();
    assert!(take(&mut second, 60), "and does so no more");
    let mut third = budget.lease();
    assert!(take(&mut second, 60), "above the limit");
    assert!(!take(&mut third, 1) && !take(&mut first, 1));
    drop(second);
    assert!(!take(&mut third, 1) && take(&mut first, 1), "it is the oldest again");
}

#[test]
fn together_they_hold_the_limit_and_one_frame() {
    let budget = Budget::new(100);
    let mut leases: Vec<_> = (0..50).map(|_| budget.lease()).collect();
    let mut finished = 0;
    while !leases.is_empty() {
        let mut moved = false;
        for lease in &mut leases {
            moved |= lease.held_bytes < 100 && take(lease, 10);
        }
        assert!(moved, "somebody always gets on");
        assert!(budget.used_bytes() <= 200, "{}", budget.used_bytes());
        let before = leases.len();
        leases.retain(|lease| lease.held_bytes < 100);
        finished += before - leases.len();
    }
    assert_eq!((finished, budget.used_bytes()), (50, 0));
}

#[test]
fn read_ahead_takes_no_more_than_half_and_never_what_a_frame_waits_for() {
    let budget = Budget::new(100);
    let (mut ahead, mut above) = (budget.lease(), budget.lease());
    assert!(ahead.try_take(50) && !ahead.try_take(1));
    assert!(take(&mut above, 100));
    let mut waits = budget.lease();
    assert!(!take(&mut waits, 1) && ahead.is_contended());
    drop(above);
    assert!(!budget.lease().try_take(0));
}
