// The engines that are compared, in the order of the table. Each has the same interface:
//
// - `name` for the command line, `title` for the table;
// - `install({ cache, everstep })` gets what it needs and tells the `versions`;
// - `start({ installed, place })` starts it with durable settings below the folder `place`, and returns its
//   `settings`, its `guarantee` (is a step durable before the next one runs?), `measure({ inFlight, seconds })`
//   and `stop()`.

import * as bluelibsRunner from "./engines/bluelibs-runner.mjs";
import * as dbos from "./engines/dbos.mjs";
import * as everstep from "./engines/everstep.mjs";
import * as restate from "./engines/restate.mjs";

export const ENGINES = [everstep.inProcess, everstep.remote, restate, dbos, bluelibsRunner];
