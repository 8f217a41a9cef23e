// Checks that end the script with exit code 1 and say what was expected and what was found.

import { isDeepStrictEqual } from 'node:util';

/** A deviation from what the servers promise. */
export class Deviation extends Error {}

export function check(holds, expected, found) {
  if (!holds) {
    throw new Deviation(`expected ${expected}; found ${JSON.stringify(found)}`);
  }
}

export function checkEqual(found, expected, what) {
  check(isDeepStrictEqual(found, expected), `${what} to be ${JSON.stringify(expected)}`, found);
}

/** Runs the script's main function: its result is the one line on stdout. */
export async function main(run) {
  try {
    console.log(JSON.stringify(await run(process.argv.slice(2))));
  } catch (error) {
    const chain = [];
    for (let at = error; at; at = at.cause) {
      chain.push(at instanceof Deviation ? at.message : String(at.stack ?? at));
    }
    console.error(chain.join('\ncaused by: '));
    process.exitCode = 1;
  }
}
