import { readFile } from 'node:fs/promises'
import { cliError, MISUSED } from './cli-error.ts'

export type Stdin = AsyncIterable<Uint8Array | string>

/** The text itself, that of a file for `@file`, or of standard input for `-`. */
export async function readSource(given: string, stdin: Stdin): Promise<string> {
  return (await readSourceBytes(given, stdin)).toString('utf8')
}

/** As `readSource`, byte for byte. */
export async function readSourceBytes(given: string, stdin: Stdin): Promise<Buffer> {
  if (given !== '-' && !given.startsWith('@')) return Buffer.from(given)
  try {
    return await (given === '-' ? readAll(stdin) : readFile(given.slice(1)))
  } catch (fault) {
    const reason = fault instanceof Error ? fault.message : String(fault)
    throw cliError(`${given === '-' ? 'standard input' : given} cannot be read: ${reason}`, MISUSED)
  }
}

async function readAll(stdin: Stdin): Promise<Buffer> {
  const chunks: Buffer[] = []
  for await (const chunk of stdin) chunks.push(Buffer.from(chunk))
  return Buffer.concat(chunks)
}
