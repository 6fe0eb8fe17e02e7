//! Parsing of RFC 3339 timestamps, with `Z` or a UTC offset.

use everstep_model::Timestamp;

pub(crate) fn parse(text: &str) -> Option<Timestamp> {
    if text.ends_with(['Z', 'z']) {
        return text.to_ascii_uppercase().parse().ok();
    }
    let (local, offset) = text.split_at_checked(text.len().checked_sub(6)?)?;
    let sign = offset.get(..1)?;
    let (hours, minutes) = offset.get(1..)?.split_once(':')?;
    let (hours, minutes): (u64, u64) = (two_digits(hours)?, two_digits(minutes)?);
    if hours > 23 || minutes > 59 {
        return None;
    }
    let away = (hours * 60 + minutes) * 60_000;
    let local: Timestamp = format!("{}Z", local.to_ascii_uppercase()).parse().ok()?;
    let millis = match sign {
        "+" => local.as_millis().saturating_sub(away),
        "-" => local.as_millis().saturating_add(away),
        _ => return None,
    };
    Some(Timestamp::from_millis(millis))
}

fn two_digits(text: &str) -> Option<u64> {
    let digits = text.len() == 2 && text.bytes().all(|byte| byte.is_ascii_digit());
    text.parse().ok().filter(|_| digits)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn utc_offsets_are_subtracted() {
        let noon = "2026-11-15T12:00:00Z".parse().ok();
        for text in [
            "2026-11-15T12:00:00Z",
            "2026-11-15T12:00:00.000z",
            "2026-11-15T14:30:00+02:30",
            "2026-11-15T04:00:00-08:00",
            "2026-11-15t12:00:00+00:00",
        ] {
            assert_eq!(parse(text), noon, "{text}");
        }
        for text in [
            "",
            "+00:00",
            "2026-11-15T12:00:00",
            "2026-11-15",
            "2026-11-15T12:00:00+24:00",
            "tomorrow",
            "é+00:00",
        ] {
            assert_eq!(parse(text), None, "{text}");
        }
    }
}
