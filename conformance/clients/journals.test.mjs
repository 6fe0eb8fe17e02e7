// The stock client tails journals in every view, and appends the two records that clients may append.
import { DurableStream, IdempotentProducer, stream } from "@durable-streams/client"
import { describe, expect, test } from "vitest"

import { APPROVAL, call, order, question, run, until } from "./support.mjs"

const VIEWS = ["full", "state", "client"]

/** Everything a view says until the run is over. */
async function tail(journal, view, live) {
  const response = await stream({ url: journal, params: { view }, live, offset: "-1" })
  const records = []
  for await (const record of response.jsonStream()) records.push(record)
  return { records, closed: response.streamClosed }
}

async function finish(id) {
  await call("POST", `/workflows/${id}/events/approval`, APPROVAL.payload)
  const rpc = await question(id)
  await call("POST", `/workflows/${id}/rpc/${rpc.id}`, true)
}

describe.each(VIEWS)("the view %s", (view) => {
  test.each(["long-poll", "sse"])("is tailed to its end by %s", async (live) => {
    const { id, journal } = await order()
    const tailed = tail(journal, view, live)
    await finish(id)
    const { records, closed } = await tailed
    expect(closed).toBe(true)
    const last = records.at(-1)
    expect(last.type).toBe(view === "full" ? "workflow:completed" : "workflow")
    if (view !== "full") expect(last.value.status).toBe("completed")
    expect(JSON.stringify(records)).not.toContain("a card number")
    for (const record of records) expect(record.headers.operation).toBeTypeOf("string")
  })
})

test("all views of a journal end at the same offset", async () => {
  const { id, journal } = await order()
  await finish(id)
  await until(async () => (await run(id)).status === "completed")
  const ends = VIEWS.map(async (view) => {
    const response = await stream({ url: journal, params: { view }, live: false, offset: "-1" })
    await response.json()
    return response.offset
  })
  expect(new Set(await Promise.all(ends)).size).toBe(1)
})

test("a page of a view may be empty, and the reader still moves on", async () => {
  const { id, journal } = await order()
  const { offset } = await new DurableStream({ url: journal }).head()
  await call("POST", `/workflows/${id}/events/comment`, "nice")
  const page = await stream({ url: journal, params: { view: "client" }, live: false, offset })
  expect(await page.json()).toEqual([])
  expect(page.upToDate).toBe(true)
  expect(page.offset > offset).toBe(true)
  const rest = await stream({ url: journal, live: false, offset })
  expect((await rest.json()).map((record) => record.type)).toEqual(["workflow:event"])
})

test("hidden records do not wake a live reader, who misses nothing after them", async () => {
  const { id, journal } = await order()
  const { offset } = await new DurableStream({ url: journal }).head()
  const response = await stream({ url: journal, params: { view: "client" }, live: "sse", offset })
  const batches = []
  const seen = new Promise((resolve) => {
    response.subscribeJson((batch) => {
      if (batch.items.length > 0) batches.push(batch)
      if (batch.items.some((row) => row.type === "rpc")) resolve()
    })
  })
  await call("POST", `/workflows/${id}/events/comment`, "nice")
  await finish(id)
  await seen
  const rows = batches.flatMap((batch) => batch.items)
  expect(rows[0]).toMatchObject({ type: "workflow", value: { status: "queued" } })
  expect(rows[1]).toMatchObject({ type: "wait", headers: { operation: "delete" } })
  const changed = rows.find((row) => row.type === "orders")
  expect(changed).toMatchObject({ value: { stage: "approved" } })
  response.cancel()
})

test("an event and an answer are appended with the stock client", async () => {
  const { id, journal } = await order()
  const handle = new DurableStream({ url: journal, contentType: "application/json" })
  await handle.append(JSON.stringify({ type: "workflow:event", key: "approval", value: APPROVAL, headers: {} }))
  const rpc = await question(id)
  expect(rpc).toMatchObject({ method: "confirmOrder", args: { item: "tea", amount: 3 } })
  const value = { rpcId: rpc.id, answer: true }
  await handle.append(JSON.stringify({ type: "workflow:rpc_answered", key: rpc.id, value, headers: {} }))
  await until(async () => (await run(id)).result === "confirmed, approved by ada")
})

test("what a producer of the stock client sends takes effect once each, and a finished run stops it", async () => {
  const { id, journal } = await order()
  const handle = new DurableStream({ url: journal, contentType: "application/json" })
  const errors = []
  const producer = new IdempotentProducer(handle, "browser-1", { onError: (error) => errors.push(error) })
  for (const text of ["one", "two", "three"]) {
    const value = { name: "comment", payload: text }
    producer.append(JSON.stringify({ type: "workflow:event", key: text, value, headers: {} }))
    await producer.flush()
  }
  expect(errors).toEqual([])
  const read = await stream({ url: journal, params: { view: "state" }, live: false, offset: "-1" })
  const events = (await read.json()).filter((row) => row.type === "event")
  expect(events.map((row) => row.value.payload)).toEqual(["one", "two", "three"])
  await call("POST", `/workflows/${id}/terminate`, {})
  producer.append(JSON.stringify({ type: "workflow:event", key: "x", value: APPROVAL, headers: {} }))
  await producer.flush().catch((error) => errors.push(error))
  expect(errors.length).toBeGreaterThan(0)
})

test("no other record is taken", async () => {
  const { journal } = await order()
  const handle = new DurableStream({ url: journal, contentType: "application/json" })
  const forged = { type: "workflow:completed", key: "run", value: { result: 1 }, headers: {} }
  await expect(handle.append(JSON.stringify(forged))).rejects.toThrow()
  await expect(handle.close()).rejects.toThrow()
  await expect(handle.delete()).rejects.toThrow()
})
