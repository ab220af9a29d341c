import { existsSync } from 'node:fs'
import type { Readable, Writable } from 'node:stream'
import { StartupError } from '../../domain/errors.ts'
import { raiseCounters } from '../../redis/control/leader-epochs.ts'
import { readBackup, restoreBackup, type RestoredBackup } from '../../redis/backup/restore/restore-backup.ts'
import { connectClient } from '../../redis/base/client/connection.ts'
import { asStoreFault } from '../../redis/base/client/faults.ts'
import type { RestoreSettings } from '../../settings/role-settings.ts'
import { openRedisFolder } from '../../standalone/data-folder.ts'
import { startRedisChild } from '../../standalone/redis-server/redis-child.ts'
import { createLogger } from '../../telemetry/logger.ts'
import { systemClock } from '../../telemetry/system-clock.ts'
import { openBriefEngine } from '../parts/brief-engine.ts'
import { endpointOf } from '../parts/store.ts'
import { bytesOf, SIGNALS, STREAM } from './archive-file.ts'
import { endingOf, secondsText, sizeText } from './figures.ts'

/** A large value takes Redis a while. */
const COMMAND_TIMEOUT_MS = 60_000

interface RestoreStreams {
  readonly stdin: Readable
  readonly stdout: Writable
}

type Source = () => AsyncIterable<Buffer>

/** Puts a backup into an empty Redis, and says what that means. @throws StartupError, RoleEndedError */
export async function runRestore(
  settings: RestoreSettings,
  file: string,
  { stdin, stdout }: RestoreStreams,
): Promise<void> {
  const startedAtMs = systemClock.monotonicMs()
  const source: Source = () => (file === STREAM ? (stdin as AsyncIterable<Buffer>) : bytesOf(file))
  try {
    // Of a file that is damaged nothing is written. A stream shows that only in its end, before which nothing can start.
    if (file !== STREAM) await readBackup(source(), systemClock.wallMs())
    const { redisUrl } = settings
    const restored = await (redisUrl === null
      ? restoreIntoFolder(settings, source)
      : restoreInto({ ...settings, redisUrl }, source))
    stdout.write(reportOf(restored, systemClock.monotonicMs() - startedAtMs))
  } catch (error) {
    throw endingOf(asStoreFault(error))
  }
}

async function restoreInto(
  settings: RestoreSettings & { readonly redisUrl: string },
  source: Source,
  howToEmpty = 'take an empty Redis',
): Promise<RestoredBackup> {
  const { client } = await connectClient({
    ...endpointOf(settings),
    name: 'punctual-restore',
    commandTimeoutMs: COMMAND_TIMEOUT_MS,
    clock: systemClock,
    logger: createLogger({ level: 'silent', format: 'json' }),
  })
  try {
    return await restoreBackup({
      source: source(),
      nowMs: systemClock.wallMs(),
      client,
      howToEmpty,
      raiseCounters: (header) => {
        const ageMs = Math.max(0, systemClock.wallMs() - Date.parse(header.beganAt))
        return raiseCounters(openBriefEngine(client, header), ageMs)
      },
    })
  } finally {
    client.disconnect()
  }
}

/**
 * Fills the Redis of a standalone that does not run. Its Redis would outlive this process, so a signal ends it first, and
 * this process behind it.
 */
async function restoreIntoFolder(settings: RestoreSettings, source: Source): Promise<RestoredBackup> {
  const { dataDir } = settings
  if (!existsSync(dataDir)) {
    throw new StartupError(
      `PUNCTUAL_REDIS_URL must be set, or PUNCTUAL_DATA_DIR name the data folder of a standalone: there is no folder ${dataDir}.`,
    )
  }
  const folder = openRedisFolder(dataDir)
  const stopping = new AbortController()
  const { promise: interrupted, reject: interrupt } = Promise.withResolvers<never>()
  // Told where it is waited for.
  interrupted.catch(() => undefined)
  let ended: NodeJS.Signals | null = null
  const end = (signal: NodeJS.Signals): void => {
    ended ??= signal
    stopping.abort()
    interrupt(new Error(`ended by ${ended}`))
  }
  for (const signal of SIGNALS) process.on(signal, end)
  try {
    const child = await startRedisChild({
      folder: folder.redisPath,
      maxmemoryBytes: settings.redisMaxmemoryBytes,
      durability: 'relaxed',
      clock: systemClock,
      logger: createLogger({ level: 'silent', format: 'json' }),
      signal: stopping.signal,
    })
    try {
      const howToEmpty = `move ${folder.redisPath} away`
      const restored = restoreInto({ ...settings, redisUrl: child.url }, source, howToEmpty)
      return await Promise.race([restored, interrupted])
    } finally {
      await child.stop()
    }
  } finally {
    folder.close()
    for (const signal of SIGNALS) process.off(signal, end)
    if (ended !== null) process.kill(process.pid, ended)
  }
}

function reportOf({ header, isContinued, ...size }: RestoredBackup, ms: number): string {
  const { installation, shards, beganAt } = header
  const lines = [
    `Restored installation ${installation}, ${shards} shards: ${sizeText(size)} in ${secondsText(ms)}${isContinued ? ', over a restore that was broken off' : ''}.`,
    `All is as it was at ${beganAt}. Jobs accepted since are gone; jobs that ended since are called again, with the same webhook-id.`,
    'Tokens and sessions are left out, so that none that was revoked since is valid: tokens come back from the resources, and everybody has to log in again.',
  ]
  return `${lines.join('\n')}\n`
}
