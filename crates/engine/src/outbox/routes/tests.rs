//! Tests of the order and number of deliveries.

use everstep_model::{Generation, Link, Name, Payload};

use super::*;

fn row(key: &str, to: &str) -> OutboxRow {
    let effect = Effect::SendEvent {
        to: RunId::new(to).unwrap(),
        event: Name::new("e").unwrap(),
        payload: Payload::null(),
        sender: Link {
            run: RunId::new("r").unwrap(),
            generation: Generation::FIRST,
            location: "__sent:0".parse().unwrap(),
            identity: None,
        },
    };
    OutboxRow {
        stream: StreamNumber(1),
        key: key.to_owned(),
        effect: effect.to_payload().unwrap(),
    }
}

fn keys(waiting: &VecDeque<Waiting>) -> Vec<&str> {
    waiting.iter().map(|w| w.key.as_str()).collect()
}

#[test]
fn effects_on_one_run_keep_their_order_even_after_a_failure() {
    let mut routes = Routes::default();
    routes.add(vec![row("1", "a"), row("2", "b"), row("3", "a")], true);
    let (a, waiting) = routes.next().unwrap();
    assert_eq!(keys(&waiting), ["1", "3"]);
    routes.add(vec![row("4", "a")], true);
    let (b, other) = routes.next().unwrap();
    assert_eq!(keys(&other), ["2"]);
    assert!(
        routes.next().is_none(),
        "a route is delivered by one task at a time"
    );
    assert!(routes.delivered(a.clone(), waiting));
    assert!(!routes.delivered(b, VecDeque::new()));
    assert!(routes.is_quiet(), "a delayed route blocks nothing");
    routes.resume(a);
    let (_, waiting) = routes.next().unwrap();
    assert_eq!(keys(&waiting), ["1", "3", "4"]);
}

#[test]
fn known_effects_are_not_added_again() {
    let mut routes = Routes::default();
    routes.add(vec![row("1", "a")], true);
    let (route, waiting) = routes.next().unwrap();
    routes.add(vec![row("1", "a")], false);
    assert!(!routes.delivered(route, VecDeque::new()));
    assert!(routes.is_quiet());
    routes.forget(waiting.iter().map(Waiting::key));
    routes.add(vec![row("1", "a")], false);
    assert!(!routes.is_quiet());
}

#[test]
fn the_number_of_routes_in_delivery_is_limited() {
    let mut routes = Routes::default();
    let rows = (0..1_000).map(|n| row(&n.to_string(), &format!("r{n}")));
    routes.add(rows.collect(), true);
    let mut taken = Vec::new();
    while let Some((route, _)) = routes.next() {
        taken.push(route);
    }
    assert_eq!(taken.len(), ROUTES_AT_ONCE);
    routes.delivered(taken.remove(0), VecDeque::new());
    assert!(routes.next().is_some());
}
