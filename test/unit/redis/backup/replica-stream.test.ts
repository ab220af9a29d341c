import { Duplex } from 'node:stream'
import type { Redis } from 'ioredis'
import { describe, expect, test } from 'vitest'
import { copyOf } from '../../../../src/redis/backup/take/replica-stream.ts'
import { createFakeClock } from '../../../support/fake-clock.ts'

/** A primary that says these pieces, the first three as answers to what it is asked. */
function primaryThat(says: readonly string[], { ends = true } = {}) {
  const heard: string[] = []
  const stream = new Duplex({
    read: () => undefined,
    write: (chunk: Buffer, _encoding, done) => {
      heard.push(chunk.toString().trim())
      const piece = says[heard.length - 1]
      if (piece !== undefined) stream.push(piece)
      if (heard.length === 3) {
        for (const further of says.slice(3)) stream.push(further)
        if (ends) stream.push(null)
      }
      done()
    },
  })
  const client = {
    stream,
    on: () => client,
    connect: () => Promise.resolve(),
    disconnect: () => stream.destroy(),
  }
  const primary = { duplicate: () => client } as unknown as Pick<Redis, 'duplicate'>
  return { primary, heard }
}

async function copied(primary: Pick<Redis, 'duplicate'>, clock = createFakeClock()): Promise<string> {
  let text = ''
  for await (const chunk of copyOf(primary, { name: 'one', clock })) text += chunk.toString('latin1')
  return text
}
const fault = (says: readonly string[]): Promise<string> =>
  copied(primaryThat(says).primary).then(
    (text) => `no fault: ${text}`,
    (error: unknown) => (error as Error).message,
  )

const OK = '+OK\r\n'
const FULL = '+FULLRESYNC 0123456789012345678901234567890123456789 14\r\n'
const MARK = 'abcdefghijabcdefghijabcdefghijabcdefghij'
const DATA = `REDIS0010 ${MARK.slice(0, 39)} data \r\n$5\r\n`

describe('the copy of a primary', () => {
  test('ends by its mark, wherever that is cut', async () => {
    const said = `\n\n$EOF:${MARK}\r\n${DATA}${MARK}*1\r\n$4\r\nPING\r\n`
    for (let at = 0; at <= said.length; at += 1) {
      const { primary, heard } = primaryThat([OK, OK, `\n\n${FULL}`, said.slice(0, at), said.slice(at)])
      expect(await copied(primary)).toBe(DATA)
      expect(heard).toEqual(['REPLCONF rdb-only 1', 'REPLCONF capa eof', 'PSYNC ? -1'])
    }
  })

  test('ends by its length, whatever follows', async () => {
    const said = `\n$${DATA.length}\r\n${DATA}*1\r\n$4\r\nPING\r\n`
    for (let at = 0; at <= said.length; at += 1) {
      const { primary } = primaryThat([OK, OK, FULL, said.slice(0, at), said.slice(at)])
      expect(await copied(primary)).toBe(DATA)
    }
  })

  test('does not need a server that knows all that it is told', async () => {
    const { primary } = primaryThat([
      '-ERR Unrecognized REPLCONF option: rdb-only\r\n',
      OK,
      FULL,
      `$3\r\nabc`,
    ])
    expect(await copied(primary)).toBe('abc')
  })

  test.each([
    [
      'is refused to a user without the right',
      [OK, OK, "-NOPERM this user has no permissions to run the 'psync' command\r\n"],
      /NOPERM .+Its user needs \+psync and \+replconf; where a provider allows neither/,
    ],
    [
      'is refused by a server that does not know of replicas',
      ['-ERR unknown command\r\n', '-ERR unknown command\r\n', "-ERR unknown command 'PSYNC'\r\n"],
      /unknown command .+use the snapshots of the provider\.$/,
    ],
    [
      'is refused by a replica without its primary',
      [OK, OK, "-NOMASTERLINK Can't SYNC while not connected with my master\r\n"],
      /^one sends no copy of its data: it answers "-NOMASTERLINK [^"]+"\.$/,
    ],
    ['fails in the middle', [OK, OK, FULL, '$10\r\nabc'], /it has ended the connection too early\.$/],
    ['fails before its mark', [OK, OK, FULL, `$EOF:${MARK}\r\nabc`], /ended the connection too early\.$/],
    ['is none', [OK, OK, FULL, '-ERR fork failed\r\n'], /it answers "-ERR fork failed"\.$/],
    ['is something else', ['x'.repeat(5_000)], /it does not speak the protocol of Redis\.$/],
  ])('%s', async (_what, says, message) => {
    expect(await fault(says)).toMatch(message)
  })

  test('is given up when not a byte comes', async () => {
    const clock = createFakeClock()
    const { primary } = primaryThat([OK, OK, FULL, '$10\r\nabc'], { ends: false })
    const taken = copied(primary, clock).catch((error: unknown) => (error as Error).message)
    await clock.advance(120_000)
    expect(await taken).toBe('one sends no copy of its data: it has sent nothing for 120 s.')
  })
})
