import { createReadStream } from 'node:fs'
import { BULK_IDS_MAX } from '../../../domain/limits.ts'
import { cliError, MISUSED } from '../../cli-error.ts'
import { plainId } from '../../connection/given-ids.ts'
import type { Stdin } from '../../given-source.ts'

/** More than the longest id with `job/` and white space. */
const ID_BYTES_MAX = 64

/**
 * The ids of jobs as given: each one is an id, or `@file` or `-` (standard input) with ids between white space. A source
 * without any is a misuse, so that a list that came out empty is not taken for something else.
 */
export async function jobIdsOf(
  given: readonly string[],
  stdin: Stdin,
): Promise<readonly (number | string)[]> {
  const ids: (number | string)[] = []
  for (const one of given) {
    const isSource = one === '-' || one.startsWith('@')
    ids.push(...(isSource ? await idsIn(one, stdin) : [one]).map(idOf))
  }
  if (ids.length > BULK_IDS_MAX) throw tooMany()
  return ids
}

async function idsIn(source: string, stdin: Stdin): Promise<readonly string[]> {
  const name = source === '-' ? 'standard input' : source
  const ids = (await readText(source, name, stdin)).split(/\s+/).filter((id) => id !== '')
  if (ids.length === 0) throw cliError(`${name} holds no ids`, MISUSED)
  return ids
}

/** Reads no more than the ids of one bulk can take. */
async function readText(source: string, name: string, stdin: Stdin): Promise<string> {
  const parts: Buffer[] = []
  let bytes = 0
  try {
    for await (const chunk of source === '-' ? stdin : createReadStream(source.slice(1))) {
      parts.push(Buffer.from(chunk))
      bytes += chunk.length
      if (bytes > BULK_IDS_MAX * ID_BYTES_MAX) break
    }
  } catch (fault) {
    const reason = fault instanceof Error ? fault.message : String(fault)
    throw cliError(`${name} cannot be read: ${reason}`, MISUSED)
  }
  if (bytes > BULK_IDS_MAX * ID_BYTES_MAX) throw tooMany()
  return Buffer.concat(parts).toString('utf8')
}

function tooMany(): Error {
  return cliError(`a bulk has at most ${BULK_IDS_MAX} ids`, MISUSED)
}

/** A number or a UUID; the API says what is wrong with anything else. */
function idOf(text: string): number | string {
  const id = plainId('job', text)
  return /^[0-9]{1,15}$/.test(id) ? Number(id) : id
}
