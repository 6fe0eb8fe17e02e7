// Runs of the server whose address is given, and waiting for them.
import { randomUUID } from "node:crypto"

const SERVER = process.env.EVERSTEP_URL

/** Sends a request of the workflow API and gives the answer as JSON. */
export async function call(method, path, body) {
  const response = await fetch(`${SERVER}${path}`, {
    method,
    headers: { "content-type": "application/json" },
    body: body === undefined ? undefined : JSON.stringify(body),
  })
  return { status: response.status, body: await response.json() }
}

/** Starts an order and gives its id and the address of its journal, once it waits for its approval. */
export async function order() {
  const id = randomUUID()
  const started = await call("POST", "/workflows", {
    type: "order",
    id,
    input: { item: "tea", amount: 3 },
  })
  await until(async () => (await run(id)).status === "waiting")
  return { id, journal: `${SERVER}${started.body.stream}` }
}

/** A run as the workflow API shows it. */
export async function run(id) {
  return (await call("GET", `/workflows/${id}`)).body
}

/** The question that an approved order asks. */
export async function question(id) {
  return await until(async () => (await run(id)).rpcs[0])
}

/** Tries until something is there, and gives it. */
export async function until(attempt) {
  const deadline = Date.now() + 10_000
  for (;;) {
    const found = await attempt()
    if (found) return found
    if (Date.now() > deadline) throw new Error(`it does not come: ${attempt}`)
    await new Promise((resolve) => setTimeout(resolve, 10))
  }
}

export const APPROVAL = { name: "approval", payload: { by: "ada" } }
