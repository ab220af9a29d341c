import { createServer, type AddressInfo } from 'node:net'
import { afterAll, afterEach, beforeAll, describe, expect, test } from 'vitest'
import type { ValidationError } from '../../../clients/typescript/src/generated/wire.ts'
import { startInstallation, TOKEN, type Installation } from '../../support/engine/installation.ts'
import { runProgram } from '../../support/servers/processes.ts'
import { sendRaw, type RawRequest } from '../../support/servers/raw-http.ts'

const MIB = 1024 * 1024

let here: Installation

beforeAll(async () => {
  here = await startInstallation({ executors: 0, apiEnv: { PUNCTUAL_EGRESS_ALLOW: '' } })
})
afterAll(() => here.close())

// Whatever it was sent, it goes on, and it logged nothing as a fault of its own.
afterEach(async () => {
  const { status } = await here.client.send('GET', '/api/queues')
  if (status !== 200) throw new Error(`the API answers ${status}`)
})

const raw = (request: Omit<RawRequest, 'url'>) => sendRaw({ url: here.api.url, ...request })

/** A push with this body, as bytes. */
function push(body: string | Buffer, headers: readonly string[] = []): Omit<RawRequest, 'url'> {
  const head = [
    'POST /api/jobs HTTP/1.1',
    'Host: punctual.test',
    `Authorization: Bearer ${TOKEN}`,
    'Content-Type: application/json',
    ...headers,
    `Content-Length: ${Buffer.byteLength(body)}`,
  ]
  return { bytes: Buffer.concat([Buffer.from(`${head.join('\r\n')}\r\n\r\n`), Buffer.from(body)]) }
}

/** What a refused client is told. */
async function refusal(request: Omit<RawRequest, 'url'>): Promise<{ status: number | null; says: string }> {
  const { status, body } = await raw(request)
  const { error, message } = JSON.parse(body || '{}') as { error?: string; message?: string }
  return { status, says: error ?? message ?? '' }
}

/** A status and a text. */
const refused = (status: number) => ({ status, says: expect.stringMatching(/\w{3}/) as string })

const job = (fields: object) => JSON.stringify({ queue: 'bad', url: 'https://example.com/', ...fields })

describe.concurrent('refused:', () => {
  describe('a body', () => {
    test.for([
      ['nothing', ''],
      ['no JSON', 'queue=a&url=b'],
      ['half of it', '{"queue":"a","url":"https://exa'],
      ['too much', '{}{}'],
      ['a comma at the end', '{"queue":"a",}'],
      ['two byte order marks', '\ufeff\ufeff{}'],
      ['NaN', '{"queue":"a","url":"https://example.com","delay":NaN}'],
      ['a raw control character', '{"queue":"a\nb","url":"https://example.com"}'],
      ['bytes that are no UTF-8', Buffer.from([0x7b, 0x22, 0xff, 0xfe, 0x22, 0x3a, 0x31, 0x7d])],
      ['NUL bytes', Buffer.alloc(1000)],
      ['a million brackets', '['.repeat(1_000_000)],
      ['a million open objects', '{"a":'.repeat(200_000)],
    ] as const)('of %s is a 400 that says so', async ([, body]) => {
      expect(await refusal(push(body))).toEqual(refused(400))
    })

    test.for([
      ['null', 'null'],
      ['an array', '[]'],
      ['a string', '"queue"'],
      ['a number', '1e999'],
      ['nothing in it', '{}'],
      ['a prototype', '{"__proto__":{"queue":"a"},"constructor":1,"url":"https://example.com"}'],
      ['a lone surrogate', '{"queue":"\\ud800","url":"https://example.com"}'],
      ['a deep payload', job({ payload: null }).replace('null', `${'{"a":'.repeat(65)}1${'}'.repeat(65)}`)],
      ['very many fields', job(Object.fromEntries(Array.from({ length: 20_000 }, (_, i) => [`f${i}`, i])))],
    ] as const)('of %s is refused with the field or the reason', async ([, body]) => {
      const { status, says } = await refusal(push(body))
      expect([400, 422]).toContain(status)
      expect(says).toMatch(/\w{3}/)
    })

    test('over 1 MiB is a 413, announced or not', async () => {
      expect(await refusal(push(job({ payload: { a: 'x'.repeat(MIB) } })))).toEqual(refused(413))
      const announced = await refusal({
        bytes: `POST /api/jobs HTTP/1.1\r\nHost: a\r\nAuthorization: Bearer ${TOKEN}\r\nContent-Type: application/json\r\nContent-Length: 99999999999\r\n\r\n{`,
      })
      expect(announced).toEqual(refused(413))
      const chunk = Buffer.from(`10000\r\n${'x'.repeat(0x10000)}\r\n`)
      const chunked = await refusal({
        bytes: `POST /api/jobs HTTP/1.1\r\nHost: a\r\nAuthorization: Bearer ${TOKEN}\r\nContent-Type: application/json\r\nTransfer-Encoding: chunked\r\n\r\n`,
        more: Array<Buffer>(40).fill(chunk),
      })
      expect(chunked).toEqual(refused(413))
    })

    test('just under 1 MiB is taken', async () => {
      const frame = job({ payload: { a: '' }, delay: 86_400 })
      const answer = await raw(push(frame.replace('""', `"${'x'.repeat(MIB - frame.length)}"`)))
      expect(answer.status, answer.body).toBe(201)
    })

    test('that never comes is a 408, and the connection is closed', async () => {
      const answer = await raw({
        bytes: `POST /api/jobs HTTP/1.1\r\nHost: a\r\nAuthorization: Bearer ${TOKEN}\r\nContent-Type: application/json\r\nContent-Length: 100\r\n\r\n{`,
        timeoutMs: 100_000,
      })
      expect(answer.status).toBe(408)
      expect(JSON.parse(answer.body)).toEqual({ error: 'The request body arrived too slowly' })
      expect(answer.head).toMatch(/connection: close/i)
    }, 120_000)

    test('of another type or encoding is a 415', async () => {
      for (const header of [
        'Content-Type: text/plain',
        'Content-Encoding: gzip',
        'Content-Type: application/json; charset=utf-16',
      ]) {
        const request = push(job({}), [header])
        const bytes = header.startsWith('Content-Type')
          ? Buffer.from(request.bytes.toString().replace('Content-Type: application/json\r\n', ''))
          : request.bytes
        expect(await refusal({ bytes })).toEqual(refused(415))
      }
    })
  })

  describe('a request', () => {
    const line = (start: string, more = '') =>
      `${start}\r\nHost: a\r\nAuthorization: Bearer ${TOKEN}\r\n${more}\r\n`

    test.for([
      ['no HTTP', '\x16\x03\x01\x02\x00\x01\x00\x01\xfc\x03\x03', 400],
      ['no Host', `GET /api/queues HTTP/1.1\r\nAuthorization: Bearer ${TOKEN}\r\n\r\n`, 400],
      ['two Hosts', line('GET /api/queues HTTP/1.1', 'Host: b\r\n'), 400],
      ['a push with two Hosts', push(job({}), ['Host: b']).bytes, 400],
      ['two lengths', line('POST /api/jobs HTTP/1.1', 'Content-Length: 2\r\nContent-Length: 3\r\n'), 400],
      [
        'a length and chunks',
        line('POST /api/jobs HTTP/1.1', 'Content-Length: 2\r\nTransfer-Encoding: chunked\r\n'),
        400,
      ],
      ['a negative length', line('POST /api/jobs HTTP/1.1', 'Content-Length: -1\r\n'), 400],
      ['a folded header', line('GET /api/queues HTTP/1.1', 'X-A: 1\r\n 2\r\n'), 400],
      ['a bare CR in a header', line('GET /api/queues HTTP/1.1', 'X-A: 1\rX-B: 2\r\n'), 400],
      ['a NUL in a header', line('GET /api/queues HTTP/1.1', 'X-A: 1\x00\r\n'), 400],
      ['20 KB of headers', line('GET /api/queues HTTP/1.1', `X-A: ${'x'.repeat(20_000)}\r\n`), 431],
      ['a path of 20 KB', line(`GET /api/jobs/${'1'.repeat(20_000)} HTTP/1.1`), 431],
      ['a method of its own', line('BREW /api/jobs HTTP/1.1'), 400],
      ['a method the path lacks', line('PUT /api/jobs HTTP/1.1', 'Content-Length: 0\r\n'), 405],
      ['TRACE', line('TRACE /api/jobs HTTP/1.1'), 405],
      ['broken percent-encoding', line('GET /api/jobs/%ff%zz HTTP/1.1'), 400],
      ['a path that climbs', line('GET /api/../../etc/passwd HTTP/1.1'), 404],
      ['a path with a NUL', line('GET /api/jobs/%00 HTTP/1.1'), 404],
      ['an absolute target', line('GET http://169.254.169.254/api/x HTTP/1.1'), 404],
      ['a star', line('OPTIONS * HTTP/1.1'), 404],
      ['the hidden queue', line('GET /api/queues/0 HTTP/1.1'), 404],
      ['a queue beyond all ids', line('GET /api/queues/9007199254740991 HTTP/1.1'), 404],
      ['a queue that is none', line('GET /api/queues/1e3 HTTP/1.1'), 404],
    ] as const)('with %s is refused', async ([, bytes, status]) => {
      expect(await refusal({ bytes })).toEqual(refused(status))
    })

    test('without a good token is a 401, whatever else is wrong with its body', async () => {
      for (const token of [
        '',
        'Bearer',
        'Bearer x',
        `Bearer ${TOKEN}x`,
        `Basic ${TOKEN}`,
        `Bearer ${TOKEN} x`,
      ]) {
        const answer = await refusal({
          bytes: `POST /api/jobs HTTP/1.1\r\nHost: a\r\nAuthorization: ${token}\r\nContent-Length: 3\r\n\r\n{{{`,
        })
        expect(answer).toEqual(refused(401))
      }
    })

    test('with two tokens is a 400, whichever of them is good', async () => {
      const twice = `GET /api/queues HTTP/1.1\r\nHost: a\r\nAuthorization: Bearer nobody-nobody-nobody\r\nAuthorization: Bearer ${TOKEN}\r\n\r\n`
      expect(await refusal({ bytes: twice })).toEqual(refused(400))
    })

    test('that is cut short at any byte harms nobody', async () => {
      const { bytes } = push(job({ payload: { a: [1, 2, { b: null }] } }))
      const cuts = Array.from({ length: bytes.length - 1 }, (_, i) => i + 1).filter((i) => i % 7 === 0)
      const answers = await Promise.all(
        cuts.map((length) => raw({ bytes: (bytes as Buffer).subarray(0, length), isEnded: true })),
      )
      for (const { status } of answers) expect([null, 400]).toContain(status)
      expect(await here.client.queueNamed('bad')).toMatchObject({ counts: { pending: 0 } })
    })

    test('among 500 that never end still gets its answer', async () => {
      const slow = Array.from({ length: 500 }, () =>
        raw({ bytes: 'POST /api/jobs HTTP/1.1\r\nHost: a\r\n', timeoutMs: 100_000 }),
      )
      const quick = await here.client.send('GET', '/api/queues')
      expect(quick.status).toBe(200)
      expect(quick.tookMs).toBeLessThan(5_000)
      const answers = await Promise.all(slow)
      expect(new Set(answers.map((answer) => answer.status))).toEqual(new Set([408]))
    }, 120_000)

    test('with a bad header of the job names it, and nothing is injected', async () => {
      const bad: ReadonlyArray<readonly [string, string]> = [
        ['X-A', 'a\r\nX-Injected: 1'],
        ['X-A\r\nX-Injected', '1'],
        ['X A', '1'],
        ['', '1'],
        ['X-A', 'ü\u0000'],
        ['Host', 'evil.test'],
        ['Content-Length', '0'],
        ['Transfer-Encoding', 'chunked'],
        ['Connection', 'upgrade'],
        ['Expect', '100-continue'],
        ['webhook-id', 'x'],
        ['X-Punctual-Signature', 'x'],
        ['X-A', 'x'.repeat(8 * 1024 + 1)],
      ]
      for (const [name, value] of bad) {
        const answer = await here.client.send<ValidationError>(
          'POST',
          '/api/jobs',
          job({ headers: { [name]: value } }),
        )
        expect(answer.status, name).toBe(422)
        expect(Object.keys(answer.body.errors)[0], name).toMatch(/^headers/)
      }
      const many = Object.fromEntries(Array.from({ length: 65 }, (_, i) => [`X-${i}`, '1']))
      expect((await here.client.send('POST', '/api/jobs', job({ headers: many }))).status).toBe(422)
      const key = push(job({}), ['Idempotency-Key: a\tb'])
      expect(await refusal(key)).toEqual(refused(422))
    })
  })

  describe('a URL', () => {
    const BLOCKED = 'The url field must not point to a blocked address.'
    const INVALID = 'The url field must be a valid URL.'
    const WITH_CREDENTIALS = 'The url field must not contain a user name or password.'

    test.for([
      ...[
        'http://127.0.0.1/',
        'http://127.1/',
        'http://2130706433/',
        'http://0x7f000001/',
        'http://0177.0.0.1/',
        'http://127.0.0.1./',
        'http://①②⑦.0.0.1/',
        'http://0/',
        'http://[::1]/',
        'http://[::]/',
        'http://[::ffff:127.0.0.1]/',
        'http://[::ffff:7f00:1]/',
        'http://[::127.0.0.1]/',
        'http://[64:ff9b::7f00:1]/',
        'http://[2002:7f00:1::]/',
        'http://[fe80::1]/',
        'http://[fd00::1]/',
        'http://10.0.0.1/',
        'http://169.254.169.254/latest/meta-data/',
        'http://[fd00:ec2::254]/',
        'http://168.63.129.16/',
        'http://100.64.0.1/',
        'http://224.0.0.1/',
        'http://255.255.255.255/',
        'http://localhost/',
        'http://LOCALHOST/',
        'http://localhost./',
        'http://a.localhost/',
        'http://metadata.google.internal/',
        'http://metadata.google.internal./',
        'http://kubernetes.default.svc/',
      ].map((url) => [url, BLOCKED] as const),
      ...['http://example.com@127.0.0.1/', 'http://user:pass@example.com/', 'http://user@example.com/'].map(
        (url) => [url, WITH_CREDENTIALS] as const,
      ),
      ...[
        'ftp://example.com/',
        'file:///etc/passwd',
        'javascript:alert(1)',
        'gopher://example.com/',
        '//example.com/',
        '/api/jobs',
        'http://',
        'http:///',
        'http://[::1',
        'http://[fe80::1%25eth0]/',
        'http://exa mple.com/',
        'http://example.com:99999/',
        'http://1.2.3.4.5/',
        'http://256.256.256.256/',
        'http://%00/',
        'not a url',
      ].map((url) => [url, INVALID] as const),
    ])('%s is refused', async ([url, text]) => {
      const asTarget = await here.client.send<ValidationError>('POST', '/api/jobs', { queue: 'urls', url })
      expect(asTarget, url).toMatchObject({ status: 422, body: { message: text, errors: { url: [text] } } })
      const asCallback = await here.client.send<ValidationError>('POST', '/api/jobs', {
        queue: 'urls',
        url: 'https://example.com/',
        callback_url: url,
      })
      const callbackText = text.replace('url field', 'callback url field')
      expect(asCallback, url).toMatchObject({
        status: 422,
        body: { errors: { callback_url: [callbackText] } },
      })
    })

    test('of 2048 characters is taken, one more is not', async () => {
      const base = 'https://example.com/'
      const long = base + 'x'.repeat(2048 - base.length)
      await here.client.push({ queue: 'urls', url: long, delay: 86_400 })
      const answer = await here.client.send('POST', '/api/jobs', { queue: 'urls', url: `${long}x` })
      expect(answer).toMatchObject({
        status: 422,
        body: { errors: { url: ['The url field must not be greater than 2048 characters.'] } },
      })
    })
  })

  describe('a start with a mistake', () => {
    const redisUrl = () => ({ PUNCTUAL_REDIS_URL: here.redis.url })

    test.for([
      ['a flag that is none', ['api', '--prot', '1'], {}, /unknown option '--prot'/],
      ['a role that is none', ['apy'], {}, /unknown command 'apy'/],
      ['a bad flag', ['api', '--port', 'http'], {}, /--port is "http", which is not allowed: it must be/],
      [
        'a bad variable',
        ['api'],
        { PUNCTUAL_PORT: '70000' },
        /PUNCTUAL_PORT is "70000", which is not allowed: it must be/,
      ],
      ['a bad list', ['executor'], { PUNCTUAL_EGRESS_ALLOW: '10.0.0.0/33' }, /PUNCTUAL_EGRESS_ALLOW/],
      ['a bad key', ['executor'], { PUNCTUAL_SECRETS_KEY: 'c2hvcnQ=' }, /PUNCTUAL_SECRETS_KEY/],
      ['a short token', ['api'], { PUNCTUAL_TOKEN: 'short' }, /PUNCTUAL_TOKEN/],
      ['no key', ['executor'], { PUNCTUAL_SECRETS_KEY: '' }, /PUNCTUAL_SECRETS_KEY is not set/],
      ['no Redis', ['executor'], { PUNCTUAL_REDIS_URL: '' }, /PUNCTUAL_REDIS_URL is not set/],
      [
        'a host that is none of ours',
        ['api', '--host', '192.0.2.1'],
        {},
        /192\.0\.2\.1 is not an address of this machine/,
      ],
    ] as const)('%s is one clear line and exit 2', async ([, args, env, text]) => {
      const given = Object.fromEntries(
        Object.entries({ ...here.env, ...redisUrl(), ...env }).filter(([, value]) => value !== ''),
      )
      const program = runProgram(args, given)
      expect(await program.exited).toEqual({ code: 2, signal: null })
      expect(program.errorLines).toEqual([expect.stringMatching(text)])
      expect(program.errorLines[0]).toMatch(/^punctual: /)
      expect(program.errorLines[0]).not.toContain('short')
      expect(program.strayLines).toEqual([])
    })

    test('of a taken port is one clear line and exit 2, for both ports', async () => {
      const taken = createServer()
      await new Promise<void>((resolve) => taken.listen(0, '127.0.0.1', resolve))
      const { port } = taken.address() as AddressInfo
      for (const variable of ['PUNCTUAL_PORT', 'PUNCTUAL_OPS_PORT']) {
        const program = runProgram(['api'], { ...here.env, [variable]: String(port) })
        expect(await program.exited, variable).toEqual({ code: 2, signal: null })
        expect(program.errorLines, variable).toEqual([
          expect.stringMatching(new RegExp(`^punctual: .*[Pp]ort ${port}.*${variable}`)),
        ])
      }
      await new Promise((resolve) => taken.close(resolve))
    })
  })
})
