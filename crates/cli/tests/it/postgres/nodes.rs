//! Nodes that share a database share the work, and each can be replaced while the others go on.

use super::{Installation, begins, until};

const ORDER: &str = r#"{"customer":"ada","amount":4200}"#;
const APPROVAL: &str = r#"{"approved":true,"reviewer":"grace"}"#;

#[test]
fn each_node_does_its_part_and_together_they_do_it_all() {
    let installation = Installation::new();
    let api = installation.node("api");
    let worker = installation.node("worker");
    let timers = installation.node("timers");
    for node in [&api, &worker, &timers] {
        let ready = installation.asked(node, "GET /health/ready", "");
        begins(ready, "HTTP/1.1 200").unwrap();
    }
    for (node, request, status) in [
        (&api, "POST /v1/workers", "404"),
        (&worker, "POST /v1/workers", "400"),
        (&worker, "GET /workflows", "404"),
        (&timers, "GET /workflows", "404"),
        (&timers, "POST /v1/workers", "404"),
        (&timers, "GET /metrics", "200"),
    ] {
        let answer = installation.asked(node, request, "{}");
        begins(answer, &format!("HTTP/1.1 {status}")).unwrap();
    }
    installation.said(&api, &["start", "payment", ORDER, "--id", "order-7"]);
    installation.said(&api, &["send", "order-7", "approval", APPROVAL]);
    // A retry, a sleep and a wait that gives up: three timers.
    let receipt = installation.said(
        &api,
        &["start", "payment", ORDER, "--id", "order-7", "--wait"],
    );
    assert!(receipt.contains("settled"), "{receipt}");
    for node in [api, worker, timers] {
        assert_eq!(node.interrupt(), Some(130));
    }
}

#[test]
fn nodes_are_replaced_one_after_the_other_while_runs_go_on() {
    let installation = Installation::new();
    let mut nodes: Vec<_> = (0..2)
        .map(|_| installation.node("api,worker,timers"))
        .collect();
    let ids: Vec<String> = (0..12).map(|n| format!("order-{n}")).collect();
    for id in &ids {
        let node = &nodes[id.len() % nodes.len()];
        installation.said(node, &["start", "payment", ORDER, "--id", id]);
    }
    for index in 0..2 {
        let old = nodes.remove(0);
        assert_eq!(old.interrupt(), Some(130), "node {index}");
        nodes.push(installation.node("api,worker,timers"));
        // Whoever is left takes requests all the time.
        for id in ids.iter().skip(index).step_by(2) {
            installation.said(&nodes[0], &["send", id, "approval", APPROVAL]);
        }
    }
    for id in &ids {
        let receipt = until("end", || {
            let start = ["start", "payment", ORDER, "--id", id, "--wait"];
            let output = installation.run(&nodes[1], &start);
            let said = crate::stdout(&output);
            match output.status.success() {
                true => Ok(said),
                false => Err(crate::stderr(&output)),
            }
        });
        assert!(receipt.contains("settled"), "{receipt}");
    }
}
