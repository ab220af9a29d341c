import type { Writable } from 'node:stream'
import { readBackup } from '../../redis/backup/restore/restore-backup.ts'
import { takeBackup, type TakenBackup } from '../../redis/backup/take/take-backup.ts'
import type { ByteSink } from '../../redis/backup/archive/archive-writer.ts'
import { connectRedis, databaseOf } from '../../redis/base/client/connection.ts'
import { asStoreFault } from '../../redis/base/client/faults.ts'
import type { BackupSettings } from '../../settings/role-settings.ts'
import { createLogger } from '../../telemetry/logger.ts'
import { systemClock } from '../../telemetry/system-clock.ts'
import { findRedis } from '../startup/kept-access.ts'
import { endpointOf } from '../parts/store.ts'
import { VERSION } from '../startup/version.ts'
import { makeFile, sinkOf, STREAM } from './archive-file.ts'
import { endingOf, secondsText, sizeText } from './figures.ts'

const COMMAND_TIMEOUT_MS = 10_000
const WHAT_IS_CHECKED_OF_A_FILE = 'It was read back to its last key and is whole.\n'
const WHAT_IS_CHECKED_OF_A_STREAM = 'It was read to its last key on its way out.\n'
const WHAT_IS_NOT_IN_IT = 'It holds neither the secrets key nor the resources: keep both in another place.\n'

/** Writes a backup of an installation that may be at work, and says what it holds. @throws StartupError, RoleEndedError */
export async function runBackup(
  settings: BackupSettings,
  file: string,
  output: { readonly stdout: Writable; readonly stderr: Writable },
): Promise<void> {
  const startedAtMs = systemClock.monotonicMs()
  const redisUrl = findRedis(settings)
  const take = (sink: ByteSink): Promise<TakenBackup> => takeFrom({ ...settings, redisUrl }, sink)
  try {
    const taken = await (file === STREAM ? take(sinkOf(output.stdout)) : takeIntoFile(file, take))
    // Standard output is the backup's.
    const tell = file === STREAM ? output.stderr : output.stdout
    tell.write(reportOf(taken, systemClock.monotonicMs() - startedAtMs))
    tell.write(file === STREAM ? WHAT_IS_CHECKED_OF_A_STREAM : WHAT_IS_CHECKED_OF_A_FILE)
    tell.write(WHAT_IS_NOT_IN_IT)
  } catch (error) {
    throw endingOf(asStoreFault(error))
  }
}

async function takeFrom(
  settings: BackupSettings & { readonly redisUrl: string },
  sink: ByteSink,
): Promise<TakenBackup> {
  const connection = await connectRedis({
    ...endpointOf(settings),
    name: 'punctual-backup',
    commandTimeoutMs: COMMAND_TIMEOUT_MS,
    clock: systemClock,
    logger: createLogger({ level: 'silent', format: 'json' }),
  })
  try {
    const database = databaseOf(connection)
    return await takeBackup({ connection, database, sink, program: VERSION, clock: systemClock })
  } finally {
    connection.disconnect()
  }
}

/** Reads the file once more from the disk before it gets its name. */
async function takeIntoFile(
  file: string,
  take: (sink: ByteSink) => Promise<TakenBackup>,
): Promise<TakenBackup> {
  let taken: TakenBackup | null = null
  await makeFile(
    file,
    async (sink) => {
      taken = await take(sink)
    },
    (written) => readBackup(written, systemClock.wallMs()),
  )
  if (taken === null) throw new Error('a file that is made was filled')
  return taken
}

function reportOf({ header, ...size }: TakenBackup, ms: number): string {
  const { installation, shards, primaries } = header
  const servers = primaries.map(({ name, redisVersion }) => `${name} (${redisVersion})`).join(', ')
  return `Backup of installation ${installation}, ${shards} shards: ${sizeText(size)} in ${secondsText(ms)}, from ${servers}.\n`
}
