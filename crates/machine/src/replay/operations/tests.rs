//! Claims about open operations.

use super::*;

fn opened(operations: &mut Operations, location: u32) -> OpId {
    let name = Name::new("sleep").unwrap();
    let until = Timestamp::from_millis(u64::from(location));
    operations.open(Location::root(name, location), Kind::Sleep { until })
}

#[test]
fn open_operations_are_found_among_closed_ones() {
    let mut operations = Operations::default();
    let first = opened(&mut operations, 0);
    let mut open = vec![first];
    for location in 1..100 {
        open.push(opened(&mut operations, location));
        // Every third operation stays open.
        if location % 3 != 0 {
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
fn operations_are_found_by_location_when_they_become_many_and_few_again() {
    let mut operations = Operations::default();
    for _ in 0..2 {
        let mut open = Vec::new();
        for location in 0..3 * FEW as u32 {
            open.push(opened(&mut operations, location));
            for (location, id) in (0..).zip(&open) {
                let location = Location::root(Name::new("sleep").unwrap(), location);
                assert_eq!(operations.at(&location).unwrap().0, *id);
            }
        }
        for (location, id) in (0..).zip(open) {
            let location = Location::root(Name::new("sleep").unwrap(), location);
            assert_eq!(operations.at(&location).unwrap().0, id);
            operations.close(id);
            assert!(operations.at(&location).is_none());
        }
        assert!(operations.by_location.is_empty());
    }
}

#[test]
fn closed_operations_are_removed() {
    let mut operations = Operations::default();
    opened(&mut operations, 0);
    for location in 1..1_000 {
        let id = opened(&mut operations, location);
        operations.close(id);
        assert!(operations.listed.len() <= 2);
    }
}
