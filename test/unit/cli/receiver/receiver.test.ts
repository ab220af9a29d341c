import { writeFileSync, mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { Readable } from 'node:stream'
import { describe, expect, test } from 'vitest'
import { isVerified, type ReceivedCall, verify } from '../../../../src/cli/receiver/signature.ts'
import { appendSignatureHeaders } from '../../../../src/outbound/exchange/signing.ts'
import { NO_TEAM_SETTINGS } from '../../../../src/ports/settings.ts'
import { inputOf, useApi } from '../cli-fixture.ts'

const NOW_MS = 1_790_000_000_000
const NEW = 'whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw'
const OLD = 'an older secret, in plain text: ü'
const BODY = Buffer.from('{"order": 12345}')
const api = useApi()

/** As the product signs. */
function signed(secrets: readonly string[], atMs = NOW_MS, body: Buffer | null = BODY): ReceivedCall {
  const lines: string[] = []
  const content = { webhookId: 'w-1', timestampSeconds: Math.round(atMs / 1000), body }
  appendSignatureHeaders(lines, content, { ...NO_TEAM_SETTINGS, signingSecrets: [...secrets] })
  lines.push('webhook-id', 'w-1', 'webhook-timestamp', String(content.timestampSeconds))
  const names = lines.flatMap((name, index) =>
    index % 2 === 0 ? [[name.toLowerCase(), lines[index + 1]]] : [],
  )
  return { headers: Object.fromEntries(names) as ReceivedCall['headers'], body: body ?? Buffer.alloc(0) }
}

const without = ({ headers, body }: ReceivedCall, ...names: readonly string[]): ReceivedCall => ({
  headers: Object.fromEntries(Object.entries(headers).filter(([name]) => !names.includes(name))),
  body,
})
const WRONG = 'another secret, or other bytes than were signed'
const WEBHOOK = ['webhook-signature', 'webhook-id', 'webhook-timestamp']

test.each([
  ['one secret', signed([NEW]), NEW, [null, null]],
  ['no body', signed([NEW], NOW_MS, null), NEW, [null, null]],
  ['the newer of two', signed([NEW, OLD]), NEW, [null, null]],
  ['the older of two', signed([NEW, OLD]), OLD, [null, null]],
  ['a secret without a prefix', signed([OLD]), OLD, [null, null]],
  ['another secret', signed([NEW]), OLD, [WRONG, WRONG]],
  ['another body', { ...signed([NEW]), body: Buffer.from('{"order":12345}') }, NEW, [WRONG, WRONG]],
  ['one scheme', without(signed([NEW]), ...WEBHOOK), NEW, [null]],
  ['no id', without(signed([NEW]), 'webhook-id'), NEW, [null, 'there is no webhook-id']],
  [
    'no time',
    without(signed([NEW]), 'x-punctual-timestamp'),
    NEW,
    ['there is no X-Punctual-Timestamp', null],
  ],
  ['no signature', without(signed([NEW]), 'webhook-signature', 'x-punctual-signature'), NEW, []],
  [
    'an old call',
    signed([NEW], NOW_MS - 301_000),
    NEW,
    ['X-Punctual-Timestamp is 301 s old, more than 300 s', 'webhook-timestamp is 301 s old, more than 300 s'],
  ],
  ['a call of 300 s', signed([NEW], NOW_MS - 300_000), NEW, [null, null]],
  [
    'a call of tomorrow',
    signed([NEW], NOW_MS + 301_000),
    NEW,
    [expect.stringContaining('301 s ahead'), expect.stringContaining('301 s ahead')],
  ],
] as const)('signed with %s', (_what, call, secret, faults) => {
  const verdicts = verify(call, { secret, nowMs: NOW_MS, ageSecondsMax: 300 })
  expect(verdicts.map(({ fault }) => fault)).toEqual(faults)
  expect(isVerified(verdicts)).toBe(faults.length > 0 && faults.every((fault) => fault === null))
})

describe('verify', () => {
  const given = ({ headers }: ReceivedCall) =>
    Object.entries(headers).flatMap(([name, value]) => ['-H', `${name}: ${value ?? ''}`])
  const old = ['--max-age', '9999999999']

  test('says of each scheme whether it is valid', async () => {
    const ran = await api.run(['verify', '--secret', NEW, ...old, '--body', '-', ...given(signed([NEW]))], {
      stdin: inputOf(BODY.toString()),
    })
    expect(ran).toEqual({ out: 'X-Punctual-Signature: valid\nwebhook-signature: valid\n', err: '', code: 0 })
  })

  test('takes the bytes of a body that is no text, and one source for one thing', async () => {
    const bytes = Buffer.from([0xff, 0xfe, 0x00, 0x80])
    const call = given(signed([NEW], NOW_MS, bytes))
    const folder = mkdtempSync(join(tmpdir(), 'punctual-body-'))
    writeFileSync(join(folder, 'body'), bytes)
    const run = (...args: string[]) =>
      api.run(['verify', ...args, ...old, ...call], { stdin: Readable.from([bytes]) })
    expect(await run('--secret', NEW, '--body', '-')).toMatchObject({ code: 0 })
    expect(await run('--secret', NEW, '--body', `@${join(folder, 'body')}`)).toMatchObject({ code: 0 })
    expect(await run('--secret', '-', '--body', '-')).toEqual({
      out: '',
      code: 2,
      err: 'punctual: standard input is the secret or the body, not both\n',
    })
    rmSync(folder, { recursive: true })
  })

  test('takes the secret from a file, and fails for a wrong one', async () => {
    const folder = mkdtempSync(join(tmpdir(), 'punctual-secret-'))
    writeFileSync(join(folder, 'secret'), `${OLD}\n`)
    const args = ['verify', '--secret', `@${join(folder, 'secret')}`, ...old, '--body', BODY.toString()]
    expect(await api.run([...args, ...given(signed([OLD]))])).toMatchObject({ code: 0 })
    expect(await api.run([...args, ...given(signed([NEW]))])).toEqual({
      out: `X-Punctual-Signature: ${WRONG}\nwebhook-signature: ${WRONG}\n`,
      err: 'punctual: the call is not verified\n',
      code: 1,
    })
    rmSync(folder, { recursive: true })
  })

  test('fails for a call that is not signed, and for no secret', async () => {
    expect(await api.run(['verify', '--secret', NEW])).toMatchObject({
      err: 'punctual: the call is not signed\n',
      code: 1,
    })
    expect(await api.run(['verify'])).toMatchObject({ code: 2 })
  })
})

describe('listen', () => {
  /** Calls the address that it prints, then interrupts it. */
  const listened = async (args: readonly string[], call: (address: string) => Promise<unknown>) => {
    let out = ''
    const { promise: known, resolve: address } = Promise.withResolvers<string>()
    const stdout = {
      write: (text: string) => {
        out += text
        address(/http:\S+/.exec(text)?.[0] ?? '')
      },
    }
    let answer: unknown
    const interrupted = async () => void (answer = await call(await known))
    const ran = await api.run(['listen', '--port', '0', ...args], { stdout, interrupted })
    return { ...ran, out, answer }
  }
  const post = (headers: Record<string, string>, body: string) => async (address: string) => {
    const answer = await fetch(`${address}/hooks?a=1`, { method: 'POST', headers, body })
    return [answer.status, await answer.text()]
  }

  test('prints what it receives with a verdict, and answers as told', async () => {
    const call = signed([NEW], Date.now())
    const ran = await listened(
      ['--secret', NEW, '--status', '503', '--body', 'busy'],
      post(call.headers as Record<string, string>, BODY.toString()),
    )
    expect(ran).toMatchObject({ err: '', code: 0, answer: [503, 'busy'] })
    expect(ran.out).toMatch(
      /^listening on http:\/\/127\.0\.0\.1:\d+\n\S+Z {2}POST \/hooks\?a=1\nX-Punctual-Signature: valid\nwebhook-signature: valid\n> /,
    )
    expect(ran.out).toContain('\n>\n> {"order": 12345}\n')
  })

  test('tells a call without a signature, and lets nothing steer the terminal', async () => {
    const { out } = await listened(['--secret', NEW], post({}, 'a\u001b[2J'))
    expect(out).toContain('POST /hooks?a=1\nnot signed\n')
    expect(out).toContain('> a\\x1b[2J\n')
    expect(out).not.toContain('\u001b')
  })

  test('refuses a body over 1 MiB', async () => {
    expect((await listened([], post({}, 'x'.repeat(1024 * 1024)))).answer).toEqual([200, ''])
    expect((await listened([], post({}, 'x'.repeat(1024 * 1024 + 1)))).answer).toEqual([413, ''])
  })

  test.each([
    [['--port', '65536'], 2],
    [['--status', '199'], 2],
    [['--delay', '3601'], 2],
    [['--secret', ''], 2],
    [['--host', '203.0.113.1'], 1],
  ])('%j does not work', async (args, code) => {
    expect(await api.run(['listen', '--port', '0', ...args])).toMatchObject({ out: '', code })
  })
})
