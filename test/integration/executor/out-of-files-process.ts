/**
 * Opens files until the system refuses, calls the given URLs one after another, closes the files and resolves a name.
 * Prints each result and what was logged. Runs below `ulimit -n`; takes a hosts file and whether a name was resolved
 * before.
 */
import { closeSync, openSync } from 'node:fs'
import { createNameResolver } from '../../../src/outbound/dns/name-resolver.ts'
import { systemClock } from '../../../src/telemetry/system-clock.ts'
import { startCaller } from '../../support/targets/outbound-targets.ts'
import { quietLogger } from '../../support/quiet.ts'

const [hostsPath = '', knows, ...urls] = process.argv.slice(2)
const resolve = createNameResolver({ clock: systemClock, hostsPath })
if (knows === 'knows-names') await resolve('localhost')
const held: number[] = []
/** Node may have closed a file of its own since the last time. */
function holdAllFiles(): void {
  try {
    for (;;) held.push(openSync('/dev/null', 'r'))
  } catch {
    // No file descriptor is left now.
  }
}
const logged: unknown[] = []
const caller = startCaller({
  resolve,
  logger: { ...quietLogger, warn: (_message, fields) => logged.push(fields) },
})
const ends: unknown[] = []
for (const url of urls) {
  holdAllFiles()
  ends.push((await caller.call(url)).kind)
}
for (const file of held) closeSync(file)
const addresses = await resolve('printer.test')
process.stdout.write(JSON.stringify({ ends, logged, addresses }))
process.exit(0)
