// The stock client reads journals with run tokens, as a browser does.
import { DurableStream, stream } from "@durable-streams/client"
import { describe, expect, test } from "vitest"

import { APPROVAL, call, order, question, run, until } from "./support.mjs"

const VIEWS = ["full", "state", "client"]

/** The headers of a reader with a new token for a view. */
async function withToken(id, view, rpcs = ["confirmOrder"]) {
  const minted = await call("POST", "/tokens", { run: id, view, rpcs })
  return { Authorization: `Bearer ${minted.body.token}` }
}

async function finish(id) {
  await call("POST", `/workflows/${id}/events/approval`, APPROVAL.payload)
  const rpc = await question(id)
  await call("POST", `/workflows/${id}/rpc/${rpc.id}`, true)
  await until(async () => (await run(id)).status === "completed")
}

/** What is in a journal now. */
async function read(url, headers, offset = "-1") {
  const response = await stream({ url, headers, live: false, offset })
  return { changes: await response.json(), offset: response.offset }
}

/** The rows of a reader that has received these changes. */
function rowsOf(changes) {
  const rows = new Map()
  for (const { type, key, value, headers } of changes) {
    if (headers.operation === "delete") rows.delete(`${type} ${key}`)
    else rows.set(`${type} ${key}`, value)
  }
  return rows
}

describe.each(VIEWS)("a token for the view %s", (view) => {
  test.each(["long-poll", "sse"])("follows its run to the end by %s", async (live) => {
    const { id, journal } = await order()
    const headers = await withToken(id, view)
    const response = await stream({ url: journal, headers, live, offset: "-1" })
    const finished = finish(id)
    const changes = []
    for await (const change of response.jsonStream()) changes.push(change)
    await finished
    expect(response.streamClosed).toBe(true)
    const last = changes.at(-1)
    expect(last.type).toBe(view === "full" ? "workflow:completed" : "workflow")
    expect(last.value.result).toBe("confirmed, approved by ada")
    expect(JSON.stringify(changes)).not.toContain("a card number")
    for (const { headers } of changes) {
      if (view === "full") expect(headers.number).toBeTypeOf("number")
    }
  })

  test("continues at an offset", async () => {
    const { id, journal } = await order()
    const headers = await withToken(id, view)
    const before = await read(journal, headers)
    await finish(id)
    const after = await read(journal, headers, before.offset)
    const whole = await read(journal, headers)
    expect([...before.changes, ...after.changes]).toEqual(whole.changes)
    expect(after.offset).toBe(whole.offset)
  })
})

test.each(["state", "client"])("rows of the view %s are deleted when waits end", async (view) => {
  const { id, journal } = await order()
  const headers = await withToken(id, view)
  const open = rowsOf((await read(journal, headers)).changes)
  expect(open.get(`workflow ${id}`).status).toBe("waiting")
  expect(open.get("wait approval:0")).toMatchObject({ kind: "event", events: ["approval"] })
  await call("POST", `/workflows/${id}/events/approval`, APPROVAL.payload)
  const rpc = await question(id)
  const asked = rowsOf((await read(journal, headers)).changes)
  expect(asked.has("wait approval:0")).toBe(false)
  expect(asked.get(`rpc ${rpc.id}`).method).toBe("confirmOrder")
  await call("POST", `/workflows/${id}/terminate`, {})
  const ended = rowsOf((await read(journal, headers)).changes)
  expect(ended.has(`rpc ${rpc.id}`)).toBe(false)
  expect(ended.get(`workflow ${id}`).status).toBe("terminated")
})

test("a client token shows only the rpcs of its methods", async () => {
  const { id, journal } = await order()
  await call("POST", `/workflows/${id}/events/approval`, APPROVAL.payload)
  await question(id)
  const shown = async (rpcs) => {
    const { changes } = await read(journal, await withToken(id, "client", rpcs))
    return changes.filter((change) => change.type === "rpc").length
  }
  expect(await shown(["confirmOrder"])).toBe(1)
  expect(await shown([])).toBe(0)
})

test("a token follows its run into the next generation", async () => {
  const { id, journal } = await order()
  const headers = await withToken(id, "client")
  const tailed = stream({ url: journal, headers, live: "sse", offset: "-1" })
  await call("POST", `/workflows/${id}/restart`, {})
  const changes = []
  for await (const change of (await tailed).jsonStream()) changes.push(change)
  const next = changes.at(-1).value.nextGeneration
  expect(next).toBe(2)
  await until(async () => (await run(id)).status === "waiting")
  const rows = rowsOf((await read(`${journal}@${next}`, headers)).changes)
  expect(rows.get(`workflow ${id}`).status).toBe("waiting")
})

test("a token reads no other run, and no other view", async () => {
  const { id, journal } = await order()
  const other = await order()
  const headers = await withToken(id, "client")
  await expect(read(other.journal, headers)).rejects.toThrow()
  const wider = stream({ url: journal, headers, params: { view: "state" }, live: false, offset: "-1" })
  await expect(wider).rejects.toThrow()
  const handle = new DurableStream({ url: journal, headers, contentType: "application/json" })
  const event = { type: "workflow:event", key: "approval", value: APPROVAL, headers: {} }
  await expect(handle.append(JSON.stringify(event))).rejects.toThrow()
})
