// `@durable-streams/state` with TanStack DB keeps the state view as rows, unchanged.
import { execFile } from "node:child_process"
import { readFile, rm, writeFile } from "node:fs/promises"
import { fileURLToPath } from "node:url"
import { promisify } from "node:util"

import { createStateSchema } from "@durable-streams/state"
import { createStreamDB } from "@durable-streams/state/db"
import { DurableStream } from "@durable-streams/client"
import { createLiveQueryCollection, eq } from "@tanstack/db"
import { expect, test } from "vitest"

import { APPROVAL, order, question, run, until } from "./support.mjs"

/** A schema that takes any row. */
const anything = { "~standard": { version: 1, vendor: "everstep", validate: (value) => ({ value }) } }

const schema = createStateSchema({
  workflows: { schema: anything, type: "workflow", primaryKey: "id" },
  steps: { schema: anything, type: "step", primaryKey: "key" },
  rpcs: { schema: anything, type: "rpc", primaryKey: "id" },
  events: { schema: anything, type: "event", primaryKey: "id" },
  orders: { schema: anything, type: "orders", primaryKey: "item" },
})

async function database(journal, view, live) {
  const db = createStreamDB({
    streamOptions: { url: journal, params: { view }, contentType: "application/json" },
    live,
    state: schema,
  })
  await db.preload()
  return db
}

test.each(["long-poll", "sse"])("a run is followed to its end by %s", async (live) => {
  const { id, journal } = await order()
  const db = await database(journal, "state", live)
  const { workflows, steps, rpcs, events, orders } = db.collections
  expect(workflows.get(id)).toMatchObject({ type: "order", status: "waiting" })
  expect(steps.get("reserve:0")).toMatchObject({ status: "completed", result: "reserved 3 tea", attempts: 1 })
  expect(steps.get("tokenise:0")).toMatchObject({ status: "completed", result: null, redacted: true })
  expect(orders.get("tea")).toMatchObject({ stage: "new" })

  const open = createLiveQueryCollection((query) =>
    query.from({ rpc: rpcs }).where(({ rpc }) => eq(rpc.method, "confirmOrder")),
  )
  await open.preload()
  expect(open.size).toBe(0)

  const handle = new DurableStream({ url: journal, contentType: "application/json" })
  const txid = `approval-${id}`
  const seen = db.utils.awaitTxId(txid)
  await handle.append(
    JSON.stringify({ type: "workflow:event", key: "approval", value: APPROVAL, headers: { operation: "insert", txid } }),
  )
  await seen
  await until(async () => open.size === 1)
  expect(orders.get("tea")).toMatchObject({ stage: "approved" })
  expect(events.size).toBe(0)

  const rpc = [...open.values()][0]
  expect(rpc.args).toEqual({ item: "tea", amount: 3 })
  expect((await question(id)).id).toBe(rpc.id)
  const value = { rpcId: rpc.id, answer: true }
  await handle.append(JSON.stringify({ type: "workflow:rpc_answered", key: rpc.id, value, headers: {} }))
  await until(async () => workflows.get(id).status === "completed")
  expect(workflows.get(id).result).toBe("confirmed, approved by ada")
  expect((await run(id)).result).toBe(workflows.get(id).result)
  expect(open.size).toBe(0)
  expect(orders.get("tea")).toMatchObject({ stage: "confirmed" })
  db.close()
})

test("the client view keeps what was meant for clients and nothing else", async () => {
  const { id, journal } = await order()
  const db = await database(journal, "client", "sse")
  const { workflows, steps, events, orders } = db.collections
  expect(workflows.get(id)).toMatchObject({ type: "order", status: "waiting" })
  expect(workflows.get(id).tags).toBeUndefined()
  expect([steps.size, events.size, orders.size]).toEqual([0, 0, 1])
  db.close()
})

test("the example of the guide prints the status of a step", async () => {
  const { id, journal } = await order()
  const file = (name) => fileURLToPath(new URL(name, import.meta.url))
  const example = await readFile(file("guide.mjs"), "utf8")
  const url = "http://localhost:4437/v1/stream/workflows/order-2"
  expect(example).toContain(url)
  await writeFile(file(`guide-${id}.mjs`), example.replace(url, journal))
  const { stdout } = await promisify(execFile)(process.execPath, [file(`guide-${id}.mjs`)])
  await rm(file(`guide-${id}.mjs`))
  expect(stdout).toBe("completed\n")
})
