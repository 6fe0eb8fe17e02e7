//! Several nodes on one database divide the work, and each can be replaced while the others run.

use super::{Installation, starts_with, until};

const ORDER: &str = r#"{"customer":"ada","amount":4200}"#;
const APPROVAL: &str = r#"{"approved":true,"reviewer":"grace"}"#;

#[test]
fn nodes_with_different_roles_execute_runs_together() {
    let installation = Installation::new();
    let api = installation.node("api");
    let worker = installation.node("worker");
    let timers = installation.node("timers");
    for node in [&api, &worker, &timers] {
        let ready = installation.request(node, "GET /health/ready", "");
        starts_with(ready, "HTTP/1.1 200").unwrap();
    }
    for (node, request, status) in [
        (&api, "POST /v1/workers", "404"),
        (&worker, "POST /v1/workers", "400"),
        (&worker, "GET /workflows", "404"),
        (&timers, "GET /workflows", "404"),
        (&timers, "POST /v1/workers", "404"),
        (&timers, "GET /metrics", "200"),
    ] {
        let response = installation.request(node, request, "{}");
        starts_with(response, &format!("HTTP/1.1 {status}")).unwrap();
    }
    installation.output(&api, &["start", "payment", ORDER, "--id", "order-7"]);
    installation.output(&api, &["send", "order-7", "approval", APPROVAL]);
    // A retry, a sleep and a wait with a timeout: three timers.
    let receipt = installation.output(
        &api,
        &["start", "payment", ORDER, "--id", "order-7", "--wait"],
    );
    assert!(receipt.contains("settled"), "{receipt}");
    for node in [api, worker, timers] {
        assert_eq!(node.interrupt(), Some(130));
    }
}

#[test]
fn nodes_can_be_replaced_one_by_one_while_runs_execute() {
    let installation = Installation::new();
    let mut nodes: Vec<_> = (0..2)
        .map(|_| installation.node("api,worker,timers"))
        .collect();
    let ids: Vec<String> = (0..12).map(|n| format!("order-{n}")).collect();
    for id in &ids {
        let node = &nodes[id.len() % nodes.len()];
        installation.output(node, &["start", "payment", ORDER, "--id", id]);
    }
    for index in 0..2 {
        let old = nodes.remove(0);
        assert_eq!(old.interrupt(), Some(130), "node {index}");
        nodes.push(installation.node("api,worker,timers"));
        // The remaining node accepts requests all the time.
        for id in ids.iter().skip(index).step_by(2) {
            installation.output(&nodes[0], &["send", id, "approval", APPROVAL]);
        }
    }
    for id in &ids {
        let receipt = until("end", || {
            let start = ["start", "payment", ORDER, "--id", id, "--wait"];
            let output = installation.run(&nodes[1], &start);
            let printed = crate::stdout(&output);
            match output.status.success() {
                true => Ok(printed),
                false => Err(crate::stderr(&output)),
            }
        });
        assert!(receipt.contains("settled"), "{receipt}");
    }
}
