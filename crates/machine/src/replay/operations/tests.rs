//! Claims about open operations.

use super::*;

fn opened(operations: &mut Operations, place: u32) -> OpId {
    let name = Name::new("sleep").unwrap();
    let until = Timestamp::from_millis(u64::from(place));
    operations.open(Location::root(name, place), Kind::Sleep { until })
}

#[test]
fn open_operations_are_found_however_many_were_closed_around_them() {
    let mut operations = Operations::default();
    let first = opened(&mut operations, 0);
    let mut open = vec![first];
    for place in 1..100 {
        open.push(opened(&mut operations, place));
        // Every third stays.
        if place % 3 != 0 {
            let closed = operations.close(open.pop().unwrap()).unwrap();
            assert!(operations.at(&closed.location).is_none());
        }
    }
    let listed: Vec<OpId> = operations.iter().map(|(id, _)| id).collect();
    assert_eq!(listed, open);
    for id in open {
        let location = operations.get(id).unwrap().location.clone();
        assert_eq!(operations.at(&location).unwrap().0, id);
        assert!(operations.close(id).is_some());
        assert!(operations.close(id).is_none());
    }
    assert!(operations.is_empty() && operations.get(first).is_none());
}

#[test]
fn operations_are_found_by_place_when_they_become_many_and_few_again() {
    let mut operations = Operations::default();
    for _ in 0..2 {
        let mut open = Vec::new();
        for place in 0..3 * FEW as u32 {
            open.push(opened(&mut operations, place));
            for (place, id) in (0..).zip(&open) {
                let location = Location::root(Name::new("sleep").unwrap(), place);
                assert_eq!(operations.at(&location).unwrap().0, *id);
            }
        }
        for (place, id) in (0..).zip(open) {
            let location = Location::root(Name::new("sleep").unwrap(), place);
            assert_eq!(operations.at(&location).unwrap().0, id);
            operations.close(id);
            assert!(operations.at(&location).is_none());
        }
        assert!(operations.by_location.is_empty());
    }
}

#[test]
fn what_is_closed_takes_no_room_for_long() {
    let mut operations = Operations::default();
    opened(&mut operations, 0);
    for place in 1..1_000 {
        let id = opened(&mut operations, place);
        operations.close(id);
        assert!(operations.listed.len() <= 2);
    }
}
