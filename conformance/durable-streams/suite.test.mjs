// The public conformance suite of the Durable Streams protocol, against the server whose address is given. The suite's
// own command line finds no tests under vitest 4 and cannot switch the subscription tests on.
import { runConformanceTests } from "@durable-streams/server-conformance-tests"

runConformanceTests({
  baseUrl: process.env.CONFORMANCE_TEST_URL,
  subscriptions: process.env.CONFORMANCE_SUBSCRIPTIONS === "true",
})
