"""The stock Python client reads journals with run tokens."""

import json
import os
import time
import unittest
import urllib.request
import uuid

from durable_streams import DurableStream, DurableStreamError, stream

SERVER = os.environ["EVERSTEP_URL"]
VIEWS = ["full", "state", "client"]
ENDED = ["completed", "failed", "terminated"]


def call(method, path, body=None):
    """Sends a request of the workflow API and returns the answer."""
    data = None if body is None else json.dumps(body).encode()
    request = urllib.request.Request(SERVER + path, data, {"content-type": "application/json"}, method=method)
    with urllib.request.urlopen(request) as response:
        return json.load(response)


def until(attempt):
    """Tries until something is there, and returns it."""
    deadline = time.monotonic() + 30
    while time.monotonic() < deadline:
        found = attempt()
        if found:
            return found
        time.sleep(0.01)
    raise AssertionError("it does not come")


def has_status(run, status):
    return lambda: call("GET", f"/workflows/{run}")["status"] == status


def order():
    """Starts an order, and returns its id once it waits for its approval."""
    run = str(uuid.uuid4())
    call("POST", "/workflows", {"type": "order", "id": run, "input": {"item": "tea", "amount": 3}})
    until(has_status(run, "waiting"))
    return run


def approve(run):
    """Approves an order, and returns the id of the rpc that it then makes."""
    call("POST", f"/workflows/{run}/events/approval", {"by": "ada"})
    return until(lambda: call("GET", f"/workflows/{run}")["rpcs"])[0]["id"]


def finish(run):
    call("POST", f"/workflows/{run}/rpc/{approve(run)}", True)
    until(has_status(run, "completed"))


def journal(run):
    return f"{SERVER}/v1/stream/workflows/{run}"


def with_token(run, view, rpcs=("confirmOrder",)):
    """Returns the headers of a reader with a new token for this view."""
    token = call("POST", "/tokens", {"run": run, "view": view, "rpcs": list(rpcs)})["token"]
    return {"authorization": f"Bearer {token}"}


def read(run, headers, **options):
    """Returns what is in the stream now, and the offset after it."""
    with stream(journal(run), headers=headers, live=False, **options) as response:
        changes = response.read_json()
        return changes, response.offset


def status_of(change):
    """Returns the status of the run if this change ends it."""
    if change["type"].startswith("workflow:"):
        word = change["type"].removeprefix("workflow:")
    else:
        word = change.get("value", {}).get("status") if change["type"] == "workflow" else None
    return word if word in ENDED else None


class Tokens(unittest.TestCase):
    def test_a_token_follows_its_run_to_the_end_by_event_stream(self):
        for view in VIEWS:
            with self.subTest(view):
                run = order()
                headers = with_token(run, view)
                with stream(journal(run), headers=headers, offset="-1", live="sse") as response:
                    changes = response.iter_json()
                    seen = [next(changes)]
                    finish(run)
                    # The server ends the event stream with the run.
                    seen.extend(changes)
                self.assertEqual(status_of(seen[-1]), "completed")
                self.assertNotIn("a card number", json.dumps(seen))
                result = "confirmed, approved by ada"
                self.assertEqual(seen[-1]["value"]["result"], result)

    def test_a_token_follows_its_run_to_the_end_by_long_polls(self):
        for view in VIEWS:
            with self.subTest(view):
                run = order()
                headers = with_token(run, view)
                with stream(journal(run), headers=headers, offset="-1", live="long-poll") as response:
                    changes = response.iter_json()
                    seen = [next(changes)]
                    finish(run)
                    while status_of(seen[-1]) is None:
                        seen.append(next(changes))
                self.assertEqual(status_of(seen[-1]), "completed")
                head = DurableStream(journal(run), headers=headers).head()
                self.assertEqual(head.offset, response.offset)

    def test_a_reader_continues_at_an_offset(self):
        for view in VIEWS:
            with self.subTest(view):
                run = order()
                headers = with_token(run, view)
                before, offset = read(run, headers, offset="-1")
                finish(run)
                after, _ = read(run, headers, offset=offset)
                whole, _ = read(run, headers, offset="-1")
                self.assertEqual(before + after, whole)

    def test_rows_are_deleted_when_waits_end(self):
        for view in ["state", "client"]:
            with self.subTest(view):
                run = order()
                headers = with_token(run, view)
                changes, _ = read(run, headers, offset="-1")
                waits = [change for change in changes if change["type"] == "wait"]
                self.assertEqual(waits[-1]["value"]["events"], ["approval"])
                rpc = approve(run)
                call("POST", f"/workflows/{run}/terminate", {})
                changes, _ = read(run, headers, offset="-1")
                rows = {}
                for change in changes:
                    key = (change["type"], change["key"])
                    if change["headers"]["operation"] == "delete":
                        del rows[key]
                    else:
                        rows[key] = change["value"]
                kinds = {kind for kind, _ in rows}
                self.assertIn(("rpc", rpc), {(change["type"], change["key"]) for change in changes})
                self.assertNotIn("rpc", kinds)
                self.assertNotIn("wait", kinds)
                self.assertEqual(rows["workflow", run]["status"], "terminated")

    def test_a_client_token_shows_only_the_rpcs_of_its_methods(self):
        run = order()
        approve(run)
        for methods, expected in [(["confirmOrder"], 1), ([], 0)]:
            changes, _ = read(run, with_token(run, "client", methods), offset="-1")
            self.assertEqual(len([change for change in changes if change["type"] == "rpc"]), expected)

    def test_a_token_follows_its_run_into_the_next_generation(self):
        run = order()
        headers = with_token(run, "client")
        call("POST", f"/workflows/{run}/restart", {})
        until(has_status(run, "waiting"))
        changes, _ = read(run, headers, offset="-1")
        self.assertEqual(changes[-1]["value"]["nextGeneration"], 2)
        changes, _ = read(f"{run}@2", headers, offset="-1")
        self.assertEqual(changes[-1]["value"]["status"], "waiting")

    def test_a_token_reads_no_other_run_and_no_other_view(self):
        run, other = order(), order()
        headers = with_token(run, "client")
        with self.assertRaises(DurableStreamError):
            read(other, headers, offset="-1")
        with self.assertRaises(DurableStreamError):
            read(run, headers, offset="-1", params={"view": "state"})


if __name__ == "__main__":
    unittest.main()
