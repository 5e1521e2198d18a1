//! Situations of all shapes, one after the other: nothing stops the detector, and the order of rows
//! means nothing.

use proptest::collection::vec;
use proptest::prelude::{ProptestConfig, any, prop_assert, prop_assert_eq, proptest};
use proptest::test_runner::RngSeed;
use turbowish_model::diagnose::alert::{Detector, Limits};
use turbowish_model::diagnose::situation::NodeKind;
use turbowish_model::snapshot::alert::Severity;
use turbowish_model::snapshot::pitfall::Pitfall;

use turbowish_testing::situations::random::situation;

fn config(cases: u32) -> ProptestConfig {
    ProptestConfig {
        cases,
        rng_seed: RngSeed::Fixed(2026),
        failure_persistence: None,
        ..ProptestConfig::default()
    }
}

proptest! {
    #![proptest_config(config(400))]

    #[test]
    fn nothing_stops_the_detector(situations in vec(situation(), 1..4)) {
        let mut detector = Detector::new(Limits::default());
        let mut now = 0;
        for mut situation in situations {
            now = situation.now.max(now);
            situation.now = now;
            // Twice, so that what must be seen twice is.
            for scan in [Detector::scan, Detector::scan_extra] {
                let alerts = scan(&mut detector, &situation);
                for alert in &alerts {
                    prop_assert!(alert.since <= now);
                    prop_assert!(!alert.title.contains("{for}"), "{alert:?}");
                    prop_assert!(!alert.title.is_empty() && !alert.why.is_empty());
                    prop_assert!(alert.fixes.iter().all(|fix| !fix.is_empty()));
                }
                let ranks: Vec<(Severity, Pitfall, u64)> =
                    alerts.iter().map(|alert| (alert.severity, alert.pitfall, alert.since)).collect();
                prop_assert!(ranks.is_sorted());
            }
        }
    }

    #[test]
    fn the_order_of_rows_means_nothing(situation in situation(), turn in any::<usize>()) {
        let mut situation = situation;
        // Ids are never used twice.
        situation.tasks.sort_by_key(|task| task.id);
        situation.tasks.dedup_by_key(|task| task.id);
        situation.resources.sort_by_key(|resource| resource.id);
        situation.resources.dedup_by_key(|resource| resource.id);
        situation.procs.sort_by(|a, b| a.path.cmp(&b.path));
        situation.procs.dedup_by(|a, b| a.path == b.path);
        let mut turned = situation.clone();
        if !turned.tasks.is_empty() {
            let by = turn % turned.tasks.len();
            turned.tasks.rotate_left(by);
        }
        turned.resources.reverse();
        turned.procs.reverse();
        let (mut one, mut other) = (Detector::new(Limits::default()), Detector::new(Limits::default()));
        for _ in 0..2 {
            let (a, b) = (one.scan(&situation), other.scan(&turned));
            prop_assert_eq!(a, b);
        }
    }

    #[test]
    fn what_may_be_anything_is_no_deadlock(situation in situation()) {
        let mut situation = situation;
        for task in &mut situation.tasks {
            for node in &mut task.tree {
                node.kind = NodeKind::Unknown;
            }
        }
        let mut detector = Detector::new(Limits::default());
        for _ in 0..3 {
            let alerts = detector.scan(&situation);
            let cycles = [Pitfall::Deadlock, Pitfall::SelfDeadlock];
            prop_assert!(alerts.iter().all(|alert| !cycles.contains(&alert.pitfall)));
        }
    }
}
