//! Pages of steps, timelines and records.

use std::fmt::Write;

use serde_json::{Value, json};

use super::support::{Served, assert_rejected, served};
use crate::support::Response;

/// Executes a run with 25 steps.
async fn run_with_steps(served: &Served) {
    served.start("stepwise", "s", "25").await;
    served.wait_for_status("s", "completed").await;
}

fn cursor(response: &Response) -> Option<String> {
    let cursor = response.headers.get("everstep-cursor")?;
    Some(cursor.to_str().unwrap().to_owned())
}

// B769
#[test]
fn the_steps_of_a_run_come_in_pages() {
    served(async |served| {
        run_with_steps(&served).await;
        let whole = served.get("/workflows/s").await.json();
        assert_eq!(whole["steps"].as_array().unwrap().len(), 25);
        assert_eq!(whole["stepsCursor"], json!(null));
        let mut steps = Vec::new();
        let mut query = "?limit=10".to_owned();
        let mut sizes = Vec::new();
        loop {
            let page = served.get(&format!("/workflows/s{query}")).await.json();
            let of_page = page["steps"].as_array().unwrap();
            sizes.push(of_page.len());
            steps.extend(of_page.iter().cloned());
            assert_eq!(
                page["result"], whole["result"],
                "each page has the other fields"
            );
            let Some(cursor) = page["stepsCursor"].as_str() else {
                break;
            };
            query = format!("?limit=10&cursor={cursor}");
        }
        assert_eq!(sizes, [10, 10, 5]);
        assert_eq!(&steps, whole["steps"].as_array().unwrap());
        for wrong in ["?limit=0", "?limit=1001", "?cursor=x", "?cursor=1.x"] {
            let response = served.get(&format!("/workflows/s{wrong}")).await;
            assert_rejected(&response, 400, "invalid_request");
        }
        let other = served.get("/workflows/s@1?cursor=2.0").await;
        assert_rejected(&other, 400, "invalid_request");
    });
}

// B770
#[test]
fn a_timeline_comes_in_pages_with_the_same_lines() {
    served(async |served| {
        run_with_steps(&served).await;
        let whole = served.get("/workflows/s/timeline").await;
        assert_eq!(cursor(&whole), None, "the run has ended");
        let whole = whole.json();
        let mut lines: Vec<Value> = Vec::new();
        let mut query = "?limit=7".to_owned();
        loop {
            let page = served.get(&format!("/workflows/s/timeline{query}")).await;
            let of_page = page.json();
            assert!(of_page.as_array().unwrap().len() <= 7);
            lines.extend(of_page.as_array().unwrap().iter().cloned());
            let Some(cursor) = cursor(&page) else {
                break;
            };
            query = format!("?limit=7&cursor={cursor}");
        }
        assert_eq!(&lines, whole.as_array().unwrap());
        // It can begin anywhere.
        let from = served
            .get("/workflows/s/timeline?from=20&limit=3")
            .await
            .json();
        let numbers = from.as_array().unwrap().iter().map(|line| &line["number"]);
        assert_eq!(numbers.collect::<Vec<_>>(), [20, 21, 22]);
        for wrong in [
            "?cursor=1.x",
            "?cursor=1.e30",
            "?from=1&cursor=1.e30",
            "?limit=0",
        ] {
            let response = served.get(&format!("/workflows/s/timeline{wrong}")).await;
            assert_rejected(&response, 400, "invalid_request");
        }
    });
}

// B770
#[test]
fn the_timeline_of_an_open_run_goes_on_at_the_cursor_of_its_end() {
    served(async |served| {
        served.start("nap", "n", "60").await;
        served.wait_for_status("n", "sleeping").await;
        let so_far = served.get("/workflows/n/timeline").await;
        let next = cursor(&so_far).unwrap();
        let path = format!("/workflows/n/timeline?cursor={next}");
        assert_eq!(served.get(&path).await.json(), json!([]));
        served.wait_for_status("n", "completed").await;
        let rest = served.get(&path).await;
        assert_eq!(cursor(&rest), None);
        let rest = rest.json();
        assert_eq!(rest[0]["kind"], "timer_fired");
        assert_eq!(rest[0]["durationMs"], 60_000, "it began on the page before");
        let whole = served.get("/workflows/n/timeline").await.json();
        assert!(
            whole
                .as_array()
                .unwrap()
                .ends_with(rest.as_array().unwrap())
        );
    });
}

// B769
#[test]
fn records_come_in_pages() {
    served(async |served| {
        run_with_steps(&served).await;
        for list in ["records", "journal"] {
            let whole = served.get(&format!("/workflows/s/{list}")).await;
            assert_eq!(cursor(&whole), None);
            let whole = String::from_utf8(whole.body.to_vec()).unwrap();
            let mut lines = String::new();
            let mut query = "?limit=9".to_owned();
            loop {
                let page = served.get(&format!("/workflows/s/{list}{query}")).await;
                let text = std::str::from_utf8(&page.body).unwrap();
                assert!(text.lines().count() <= 9);
                write!(lines, "{text}").unwrap();
                let Some(cursor) = cursor(&page) else {
                    break;
                };
                query = format!("?limit=9&cursor={cursor}");
            }
            assert_eq!(lines, whole, "{list}");
        }
    });
}
