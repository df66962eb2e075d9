/** Run in a copy of the source that holds a planted fault: prints what the simulation finds, or nothing. */
import { firstProblem } from "../simulate-sample.js";

const [limit = "0", ...names] = process.argv.slice(2);
process.stdout.write((await firstProblem(names, Number(limit))) ?? "");
// A driver with a fault may leave work behind.
process.exit(0);
