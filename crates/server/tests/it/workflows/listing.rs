//! Lists of runs.

use serde_json::Value;

use super::support::{assert_rejected, served};

fn ids(page: &Value) -> Vec<&str> {
    let runs = page["runs"].as_array().unwrap();
    runs.iter().map(|run| run["id"].as_str().unwrap()).collect()
}

#[test]
fn lists_are_filtered_by_type_status_alias_tag_and_time() {
    served(async |served| {
        served.start("nap", "a", "1").await;
        served.start("order", "b", "1").await;
        let tagged = r#"{"type":"nap","id":"c","input":9000,"tags":["blue"]}"#;
        served.post("/workflows", tagged).await;
        served.wait_for_status("a", "completed").await;
        served.wait_for_status("b", "waiting").await;
        for (query, expected) in [
            ("", vec!["c", "b", "a"]),
            ("?type=nap", vec!["c", "a"]),
            ("?type=nap,order&status=complete", vec!["a"]),
            ("?status=waiting&status=sleeping", vec!["c", "b"]),
            ("?tag=blue", vec!["c"]),
            ("?createdFrom=2030-01-01T00:00:00Z", vec![]),
            (
                "?createdBefore=2030-01-01T02:00:00%2B02:00&type=order",
                vec!["b"],
            ),
        ] {
            let page = served.get(&format!("/workflows{query}")).await.json();
            assert_eq!(ids(&page), expected, "{query}");
            assert!(page["cursor"].is_null());
        }
        let page = served.get("/workflows?tag=blue").await.json();
        let run = &page["runs"][0];
        assert_eq!(
            (&run["type"], &run["tags"][0]),
            (&"nap".into(), &"blue".into())
        );
        assert_eq!(run["stream"], "/v1/stream/workflows/c");
    });
}

#[test]
fn the_cursor_of_a_page_leads_to_the_next() {
    served(async |served| {
        for n in 0..5 {
            served.start("nap", &format!("n{n}"), "9000").await;
        }
        let (mut seen, mut address) = (Vec::new(), "/workflows?limit=2".to_owned());
        loop {
            let page = served.get(&address).await.json();
            seen.extend(ids(&page).into_iter().map(str::to_owned));
            let Some(cursor) = page["cursor"].as_str() else {
                break;
            };
            address = format!("/workflows?limit=2&cursor={cursor}");
        }
        assert_eq!(seen, ["n4", "n3", "n2", "n1", "n0"]);
    });
}

#[test]
fn unknown_list_parameters_are_rejected() {
    served(async |served| {
        for query in [
            "staus=failed",
            "status=bored",
            "limit=0",
            "limit=1001",
            "limit=many",
            "limit=1&limit=2",
            "cursor=x",
            "createdFrom=yesterday",
        ] {
            assert_rejected(
                &served.get(&format!("/workflows?{query}")).await,
                400,
                "invalid_request",
            );
        }
    });
}

#[test]
fn the_workflows_that_can_be_started_are_listed_with_their_versions() {
    served(async |served| {
        let types = served.get("/types").await.json();
        let types = types["types"].as_array().unwrap();
        let names: Vec<_> = types.iter().map(|known| &known["type"]).collect();
        let expected =
            "booked discreet doubler fragile impatient nap order slow stepwise unsteady voyage";
        assert_eq!(names, expected.split(' ').collect::<Vec<_>>());
        assert!(types.iter().all(|known| known["newest"] == 1));
        assert_eq!(types[0]["offered"], serde_json::json!([1, 1]));
    });
}

// B375, B409: the store in this test is not shared between processes, so no catalog is written.
#[test]
fn the_workflows_of_the_process_are_listed_with_what_they_declare() {
    served(async |served| {
        let types = served.get("/types").await.json();
        let described = |workflow: &str| {
            let mut types = types["types"].as_array().unwrap().iter();
            let known = types.find(|known| known["type"] == workflow).unwrap();
            known["description"].clone()
        };
        let order = described("order");
        assert_eq!(order["input"]["format"], "uint32");
        assert_eq!(order["output"]["type"], "array");
        let approval = &order["events"]["approval"]["schema"];
        assert_eq!(approval["properties"]["by"]["type"], "string");
        let confirm = &order["rpcs"]["confirm"];
        assert_eq!(confirm["args"]["properties"]["amount"]["type"], "integer");
        assert_eq!(confirm["schema"]["type"], "boolean");
        let nap = described("nap");
        assert_eq!(nap["input"]["format"], "uint64");
        assert!(nap["events"].is_null(), "it accepts every event");
    });
}
