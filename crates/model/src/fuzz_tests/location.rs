//! Locations as text.

use crate::Location;

#[test]
fn locations_round_trip() {
    super::check_text("location", |text| match text.parse::<Location>() {
        Ok(location) => {
            let written = location.to_string();
            assert_eq!(written.parse(), Ok(location.clone()));
            (String::new(), location.scope.segments().len())
        }
        Err(error) => (error.to_string(), 0),
    });
}
