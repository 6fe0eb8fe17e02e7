// The workflow for Restate, served to Restate's server: started by `restate.mjs` with a port and the folder
// of the packages. Says how many steps it has executed whenever it is asked.

import { createRequire } from "node:module";
import { join } from "node:path";

import { PAYLOAD, STEPS_PER_RUN } from "../load.mjs";

const [port, packages] = process.argv.slice(2);
const restate = createRequire(join(packages, "package.json"))("@restatedev/restate-sdk");

let steps = 0;

const bench = restate.service({
  name: "bench",
  handlers: {
    tenSteps: async (ctx) => {
      let bytes = 0;
      for (let index = 0; index < STEPS_PER_RUN; index += 1) {
        const result = await ctx.run(`step-${index}`, () => {
          steps += 1;
          return PAYLOAD;
        });
        bytes += result.length;
      }
      return bytes;
    },
  },
});

await restate.serve({ services: [bench], port: Number(port) });
process.on("message", () => process.send(steps));
// Whoever started it is gone.
process.on("disconnect", () => process.exit());
process.send(steps);
