import { execFileSync } from 'node:child_process'
import { describe, expect, test } from 'vitest'
import { type CurlRequest, curlOf, MASK, pushCommandOf } from '../../../../dashboard/src/format/curl.ts'

const REQUEST: CurlRequest = { method: 'POST', url: 'https://example.com/', headers: [], body: null }

/** What a shell makes of a command: the arguments that curl would get. */
function argumentsOf(command: string, env: Readonly<Record<string, string>> = {}): string[] {
  // A function in place of curl, each argument ended by a line of its own.
  const script = `curl() { for a in "$@"; do printf '%s\\n--end--\\n' "$a"; done; }\n${command}`
  const out = execFileSync('/bin/sh', ['-c', script], { env, encoding: 'utf8' })
  return out.split('\n--end--\n').slice(0, -1)
}

const HOSTILE = [
  "'; touch /tmp/owned; '",
  '"$(id)"',
  '`id` $HOME ${PATH} \\ \\\\',
  'line\nbreak\r\n\ttab',
  "it's ''quoted'' \"twice\"",
  '!! # * ? ~ & | < > ( ) [ ]',
  '@/etc/passwd',
  '-o/tmp/owned',
  '\u202Ertl \u{1F600} é',
]

describe('a request as curl', () => {
  test('sends the bytes that base64 stands for', () => {
    const script = `curl() { od -An -tx1; }\n${curlOf({ ...REQUEST, body: 'AP8K', isBase64: true })}`
    expect(execFileSync('/bin/sh', ['-c', script], { encoding: 'utf8' }).trim()).toBe('00 ff 0a')
  })

  test.each(HOSTILE)('hands on a body as it is: %j', (body) => {
    expect(argumentsOf(curlOf({ ...REQUEST, body })).slice(-2)).toEqual(['--data-raw', body])
  })

  test.each(HOSTILE)('hands on a header and a URL as they are: %j', (text) => {
    const url = `https://example.com/?q=${text}`
    const given = argumentsOf(curlOf({ ...REQUEST, url, headers: [{ name: 'X-A', value: text }] }))
    expect(given.slice(-3)).toEqual([url, '-H', `X-A: ${text}`])
  })

  test('has variables for secrets and for what is masked, whatever the names', () => {
    const headers = [
      { name: 'Authorization', value: 'Bearer secret' },
      { name: 'X-`id`-Token', value: 'secret' },
      { name: '0-Api-Key', value: 'secret' },
      { name: 'X-Order', value: MASK },
    ]
    const command = curlOf({ ...REQUEST, headers, body: MASK })
    expect(command).not.toContain('secret')
    const env = { AUTHORIZATION: 'a b', X__ID__TOKEN: 't', _0_API_KEY: 'k', X_ORDER: '7', BODY: '{}' }
    const given = argumentsOf(command, env).filter((each) => each.includes(': ') || each === '{}')
    expect(given).toEqual(['Authorization: a b', 'X-`id`-Token: t', '0-Api-Key: k', 'X-Order: 7', '{}'])
  })

  test('leaves out what curl or Punctual sets, and keeps an empty header', () => {
    const names = ['Host', 'content-length', 'webhook-id', 'X-Punctual-Attempt', 'Connection', 'X-Empty']
    const command = curlOf({ ...REQUEST, headers: names.map((name) => ({ name, value: '' })) })
    expect(argumentsOf(command)).toEqual(['-X', 'POST', 'https://example.com/', '-H', 'X-Empty;'])
  })

  test('keeps brackets of a URL from standing for several', () => {
    expect(curlOf({ ...REQUEST, url: 'https://example.com/?a[]=1' })).toMatch(/^curl -g /)
  })
})

test('a push as curl takes the token from the environment', () => {
  const given = argumentsOf(pushCommandOf('http://x', `{"a": "it's"}`), { PUNCTUAL_TOKEN: 'pun_1' })
  expect(given).toEqual([
    '-X',
    'POST',
    'http://x/api/jobs',
    '-H',
    'Authorization: Bearer pun_1',
    '-H',
    'Content-Type: application/json',
    '--data-raw',
    `{"a": "it's"}`,
  ])
})
