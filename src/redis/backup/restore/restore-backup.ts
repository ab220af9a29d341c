import { BackupError } from '../../../domain/errors.ts'
import { dataVersionProblem } from '../../base/installation/installation.ts'
import { isLoginKey, META_KEY, TOKENS_KEY } from '../../base/layout/keys.ts'
import type { RedisConnection } from '../../base/client/connection.ts'
import type { ArchiveHeader } from '../archive/archive-form.ts'
import { ArchiveReader } from '../archive/archive-reader.ts'
import { CheckedData, type OwnValue } from '../archive/checked-data.ts'
import { faultOf, ValueSender, restored, type RestoreClient } from './value-sender.ts'
import { takeTarget, type TakenTarget } from './restore-target.ts'

/** What an archive holds. */
export interface ReadBackup {
  readonly header: ArchiveHeader
  /** Keys of the installation. */
  readonly keys: number
  readonly bytes: number
}

export interface RestoredBackup extends ReadBackup {
  /** Whether an earlier restore was broken off. */
  readonly isContinued: boolean
}

/** Reads an archive to its last byte. @throws BackupError when it is damaged, or of data that cannot be restored */
export function readBackup(source: AsyncIterable<Buffer>, nowMs: number): Promise<ReadBackup> {
  return read(new ArchiveReader(source, nowMs), { onHeader: async () => undefined, onValue: () => null })
}

interface RestoreOptions {
  readonly source: AsyncIterable<Buffer>
  readonly nowMs: number
  readonly client: RestoreClient & RedisConnection
  /** What to do where it is not empty, for messages. */
  readonly howToEmpty: string
  /** Raises the counters of ids, so that none is given twice. */
  raiseCounters(header: ArchiveHeader): Promise<void>
}

/**
 * Puts an archive into a Redis without an installation. What says that this Redis holds one is written last, when the
 * archive has proved to be whole. @throws BackupError
 */
export async function restoreBackup({
  source,
  nowMs,
  client,
  howToEmpty,
  raiseCounters,
}: RestoreOptions): Promise<RestoredBackup> {
  try {
    let taken: TakenTarget | null = null
    let meta: OwnValue | null = null
    const target = (): TakenTarget => {
      if (taken === null) throw new Error('an archive begins with its header')
      return taken
    }
    const sender = new ValueSender(client, () => target().check())
    const done = await read(new ArchiveReader(source, nowMs), {
      onHeader: async (header) => {
        taken = await takeTarget(client, header, howToEmpty)
      },
      onValue: (value) => {
        const key = value.key.toString()
        if (key === META_KEY) meta = value
        else if (!isLeftOut(key)) return sender.send(value)
        return null
      },
    })
    await sender.settle()
    await raiseCounters(done.header)
    await target().finish(() => restored(client, whole(meta)))
    return { ...done, isContinued: target().isContinued }
  } catch (error) {
    throw faultOf(error)
  }
}

/**
 * What was revoked since must not be valid again: sessions and codes are made anew by a login, and tokens are compiled
 * anew from their resources.
 */
function isLeftOut(key: string): boolean {
  return key === TOKENS_KEY || isLoginKey(key)
}

async function read(
  reader: ArchiveReader,
  {
    onHeader,
    onValue,
  }: {
    onHeader(header: ArchiveHeader): Promise<void>
    /** null = nothing is waited for. */
    onValue(value: OwnValue): Promise<void> | null
  },
): Promise<ReadBackup> {
  const header = await reader.header()
  const problem = dataVersionProblem(header.dataVersion)
  if (problem !== null) throw new BackupError(problem.replace('Redis holds', 'The backup holds'))
  await onHeader(header)
  const data = new CheckedData(header)
  const frames = reader.frames()
  let bytes = 0
  let said: number
  for (;;) {
    const { value: frame, done } = await frames.next()
    if (done === true) {
      said = frame.keys
      break
    }
    bytes += frame.bytes.length
    for (const value of data.push(frame.primary, frame.bytes)) {
      const sent = onValue(value)
      if (sent !== null) await sent
    }
  }
  for (const value of data.end()) {
    const sent = onValue(value)
    if (sent !== null) await sent
  }
  if (said !== data.keys) {
    throw new BackupError(`The backup is damaged: it says that it has ${said} keys, and has ${data.keys}.`)
  }
  return { header, keys: data.keys, bytes }
}

function whole(meta: OwnValue | null): OwnValue {
  if (meta === null) throw new BackupError(`The backup has no key ${META_KEY}.`)
  return meta
}
