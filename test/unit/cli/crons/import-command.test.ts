import { describe, expect, test } from 'vitest'
import { parseAllDocuments, stringify } from 'yaml'
import { createManifestReader } from '../../../../src/resources/manifests/manifest-reader.ts'
import { inputOf, type Ran, useApi } from '../cli-fixture.ts'

const api = useApi()

interface Given {
  readonly name?: string
  readonly spec?: Record<string, unknown>
  readonly job?: Record<string, unknown>
  readonly container?: Record<string, unknown>
}

/** A CronJob of the namespace shop, with no retries. */
function cronJob({ name = 'nightly', spec = {}, job = {}, container = {} }: Given = {}) {
  return {
    apiVersion: 'batch/v1',
    kind: 'CronJob',
    metadata: { name, namespace: 'shop', labels: { app: 'reports' } },
    spec: {
      schedule: '15 2 * * *',
      ...spec,
      jobTemplate: {
        spec: {
          backoffLimit: 0,
          ...job,
          template: {
            spec: { containers: [{ name: 'call', image: 'curlimages/curl:8.17.0', ...container }] },
          },
        },
      },
    },
  }
}

function curl(...args: string[]): Given {
  return { container: { args } }
}

function script(text: string, more: Record<string, unknown> = {}): Given {
  return { container: { image: 'alpine', command: ['/bin/sh', '-c'], args: [text], ...more } }
}

function run(...given: unknown[]): Promise<Ran> {
  const text = given.map((one) => stringify(one)).join('---\n')
  return api.run(['import', 'cronjobs', '-f', '-'], { stdin: inputOf(text) })
}

/** The spec of the only cron, which the rules of the definitions accept, and the comments. */
async function imported(given: Given) {
  const { out, err, code } = await run(cronJob(given))
  expect({ err, code }).toEqual({ err: '', code: 0 })
  expect(createManifestReader('shop').read('crons.yaml', out).problems).toEqual([])
  const resources = parseAllDocuments(out).map(
    (document) => document.toJS() as { kind: string; spec: unknown },
  )
  const comments = out
    .split('\n')
    .filter((line) => line.startsWith('# - '))
    .map((line) => line.slice(4))
  return { spec: resources.find(({ kind }) => kind === 'HttpCron')?.spec, comments, resources }
}

async function reasonOf(given: Given): Promise<string> {
  const { out, code } = await run(cronJob(given))
  expect(code).toBe(1)
  return /^# The CronJob shop\/nightly stays: (.*)\.$/m.exec(out)?.[1] ?? out
}

describe('import cronjobs', () => {
  test('writes the HttpCron of a CronJob whose image is curl', async () => {
    const { spec, comments } = await imported(
      curl(
        '-sSf',
        '-X',
        'PUT',
        '-H',
        'X-Report: daily',
        '--json',
        '{"all":true}',
        '-m',
        '90',
        'https://reports.example.com/run?x=1',
      ),
    )
    expect(spec).toEqual({
      cronExpression: '15 2 * * *',
      url: 'https://reports.example.com/run?x=1',
      method: 'PUT',
      headers: [
        { name: 'X-Report', value: 'daily' },
        { name: 'Content-Type', value: 'application/json' },
        { name: 'Accept', value: 'application/json' },
      ],
      payload: '{"all":true}',
      timeoutSeconds: 90,
    })
    expect(comments).toEqual([])
  })

  test('reads a script of a shell', async () => {
    const text = `set -eu
      # Nightly.
      exec /usr/bin/curl --fail -d 'it'\\''s "$WHAT"' \\
        -d "to=$TO" "https://reports.example.com/run?day=$DAY" > /dev/null 2>&1 || exit 1
    `
    const env = [
      { name: 'TO', value: 'ops' },
      { name: 'DAY', value: '7' },
    ]
    const { spec } = await imported(script(text, { env }))
    expect(spec).toMatchObject({
      url: 'https://reports.example.com/run?day=7',
      method: 'POST',
      payload: `it's "$WHAT"&to=ops`,
      headers: [{ name: 'Content-Type', value: 'application/x-www-form-urlencoded' }],
    })
  })

  test.each<[string, Given, Record<string, unknown>]>([
    [
      'wget',
      { container: { image: 'busybox', command: ['wget', '-qO-', '-T', '5', 'http://a.example.com/x'] } },
      { url: 'http://a.example.com/x', method: 'GET', timeoutSeconds: 5 },
    ],
    [
      'wget with a body',
      {
        container: { command: ['busybox', 'wget', '--post-data', 'a=1', '-O', '-', 'http://a.example.com'] },
      },
      { payload: 'a=1', method: 'POST' },
    ],
    [
      'data in the URL',
      curl('-fG', '-d', 'a=1', '--data-urlencode', 'b=x y', 'https://a.example.com/?c=2'),
      { url: 'https://a.example.com/?c=2&a=1&b=x%20y', method: 'GET' },
    ],
    ['an address without a scheme', curl('-f', 'a.example.com/x'), { url: 'http://a.example.com/x' }],
    [
      'variables of Kubernetes',
      {
        container: {
          command: ['curl', '-f', 'https://$(HOST)/$$(HOST)'],
          env: [{ name: 'HOST', value: 'a.example.com' }],
        },
      },
      { url: 'https://a.example.com/$(HOST)' },
    ],
    [
      'a time zone, a macro and a pause',
      {
        ...curl('-f', 'https://a.example.com'),
        spec: { schedule: '@daily', timeZone: 'Europe/Berlin', suspend: true },
      },
      { cronExpression: '0 0 * * *', timeZone: 'Europe/Berlin', active: false },
    ],
    [
      'a time zone in the schedule',
      { ...curl('-f', 'https://a.example.com'), spec: { schedule: 'CRON_TZ=Asia/Tokyo 5 4 * * *' } },
      { cronExpression: '5 4 * * *', timeZone: 'Asia/Tokyo' },
    ],
    [
      'policies',
      {
        ...curl('-f', 'https://a.example.com'),
        spec: { concurrencyPolicy: 'Forbid', startingDeadlineSeconds: 200 },
      },
      { concurrencyPolicy: 'Forbid', startingDeadlineSeconds: 200 },
    ],
    [
      'the deadline of its Job',
      { ...curl('-f', '-m', '200', 'https://a.example.com'), job: { activeDeadlineSeconds: 120 } },
      { timeoutSeconds: 120 },
    ],
    [
      'a header of its own in place of what curl sends',
      curl(
        '-f',
        '-d',
        '{}',
        '-H',
        'content-type: application/json',
        '-H',
        'Accept:',
        'https://a.example.com',
      ),
      { headers: [{ name: 'content-type', value: 'application/json' }] },
    ],
    ['a part of a second', curl('-f', '-m', '1.2', 'https://a.example.com'), { timeoutSeconds: 2 }],
    [
      'a deadline beyond a day',
      { ...curl('-f', 'https://a.example.com'), spec: { startingDeadlineSeconds: 100_000 } },
      { startingDeadlineSeconds: 86_400 },
    ],
    [
      'tries of wget',
      { container: { command: ['wget', '-t', '3', 'https://a.example.com'] } },
      { queue: 'crons-tried-3-times' },
    ],
    [
      'the tries of a Job that does not say',
      { ...curl('-f', 'https://a.example.com'), job: { backoffLimit: undefined } },
      { queue: 'crons-tried-7-times' },
    ],
    ['no timeout at all', curl('-f', 'https://a.example.com'), { timeoutSeconds: 300 }],
  ])('takes over %s', async (_, given, expected) => {
    expect((await imported(given)).spec).toMatchObject(expected)
  })

  test('has what is tried again go through a queue, one for all that are tried as often', async () => {
    const two = cronJob({ name: 'two', ...curl('-f', '--retry', '2', 'https://a.example.com') })
    const other = cronJob({ name: 'other', ...curl('-f', 'https://a.example.com'), job: { backoffLimit: 2 } })
    const many = cronJob({ name: 'many', ...curl('-f', 'https://a.example.com'), job: { backoffLimit: 50 } })
    const { out, code } = await run({ apiVersion: 'v1', kind: 'List', items: [two, other] }, many)
    expect(code).toBe(0)
    const resources = parseAllDocuments(out).map(
      (document) => document.toJS() as { kind: string; spec: object },
    )
    expect(resources).toMatchObject([
      {
        kind: 'HttpQueue',
        metadata: { name: 'crons-tried-3-times', namespace: 'shop' },
        spec: { retryDelays: [10, 20] },
      },
      { kind: 'HttpQueue', spec: { retryDelays: [10, 20, 40, 80, 160, 320, 360, 360, 360, 360] } },
      { kind: 'HttpCron', metadata: { name: 'two' }, spec: { queue: 'crons-tried-3-times' } },
      { kind: 'HttpCron', metadata: { name: 'other' }, spec: { queue: 'crons-tried-3-times' } },
      { kind: 'HttpCron', metadata: { name: 'many' }, spec: { queue: 'crons-tried-11-times' } },
    ])
  })

  test('makes the queue in each namespace', async () => {
    const one = cronJob({ ...curl('-f', 'https://a.example.com'), job: { backoffLimit: 1 } })
    const { out } = await run(one, { ...one, metadata: { name: 'nightly', namespace: 'billing' } })
    const queues = parseAllDocuments(out).map(
      (document) => document.toJS() as { kind: string; metadata: { namespace: string } },
    )
    expect(
      queues.filter(({ kind }) => kind === 'HttpQueue').map(({ metadata }) => metadata.namespace),
    ).toEqual(['shop', 'billing'])
  })

  test('leaves a pod that prepares something', async () => {
    const job = cronJob(curl('-f', 'https://a.example.com'))
    Object.assign(job.spec.jobTemplate.spec.template.spec, { initContainers: [{ name: 'wait' }] })
    expect((await run(job)).out).toContain('stays: its pod has more than one container.')
  })

  test('leaves values of Secrets where they are', async () => {
    const env = [
      { name: 'TOKEN', valueFrom: { secretKeyRef: { name: 'partner', key: 'token' } } },
      { name: 'WHOLE', valueFrom: { secretKeyRef: { name: 'partner', key: 'header' } } },
    ]
    const text =
      'curl -f -H "Authorization: Bearer $TOKEN" -H "X-Partner: $WHOLE" -H "X-Api-Key: abc" https://a.example.com'
    const { spec, comments } = await imported(script(text, { env }))
    expect(spec).toMatchObject({
      headers: [
        {
          name: 'Authorization',
          valueFrom: { secretKeyRef: { name: 'nightly-headers', key: 'authorization' } },
        },
        { name: 'X-Partner', valueFrom: { secretKeyRef: { name: 'partner', key: 'header' } } },
        { name: 'X-Api-Key', valueFrom: { secretKeyRef: { name: 'nightly-headers', key: 'x-api-key' } } },
      ],
    })
    const marks = 'label it punctual.dev/secret=header and annotate it punctual.dev/hosts=a.example.com.'
    expect(comments).toEqual([
      `Make the Secret nightly-headers with the key authorization, the whole value of Authorization (Bearer <partner/token>); ${marks}`,
      `The Secret partner is used: ${marks}`,
      `Make the Secret nightly-headers with the key x-api-key, the whole value of X-Api-Key (as in the CronJob); ${marks}`,
    ])
  })

  test.each([
    ['-u', curl('-f', '-u', 'me:very-secret', 'https://a.example.com')],
    ['the URL', curl('-f', 'https://me:very-secret@a.example.com/')],
    [
      '-u beside a header',
      curl('-f', '-u', 'me:very-secret', '-H', 'Authorization: Bearer very-secret', 'https://a.example.com'),
    ],
  ])('writes no password that %s holds', async (_, given) => {
    const { spec, comments } = await imported(given)
    expect(spec).toMatchObject({ url: 'https://a.example.com/', headers: [{ name: 'Authorization' }] })
    expect(JSON.stringify([spec, comments])).not.toContain('very-secret')
  })

  test.each<[string, Given, string]>([
    [
      'what is done otherwise',
      curl('-L', '-k', '-o', 'answer.json', '-m', '900', 'https://a.example.com'),
      'An answer other than 2xx fails the run from now on; curl without --fail took any. A redirect is not followed: name the address it leads to. The certificate of the target is checked, which --insecure left out. The answer is kept with the run, not in the file answer.json. A call may take 300 s at most, and not 900 s as before.',
    ],
    [
      'a service of its namespace',
      curl('-f', 'http://reports:8080/run'),
      'reports.shop.svc is in the cluster: TeamSettings must allow its address (egress.allow).',
    ],
    [
      'Replace',
      { ...curl('-f', 'https://a.example.com'), spec: { concurrencyPolicy: 'Replace' } },
      'A run in flight is not cut off: a tick is left out while one is, instead of Replace.',
    ],
  ])('says %s', async (_, given, expected) => {
    expect((await imported(given)).comments.join(' ')).toBe(expected)
  })

  test.each<[string, Given, string]>([
    [
      'another program',
      { container: { image: 'postgres', command: ['pg_dump'] } },
      'what the program pg_dump does is not known; only curl and wget are read',
    ],
    [
      'an image that says nothing',
      { container: { image: 'registry.example.com:5000/backup:1' } },
      'what the image registry.example.com:5000/backup:1 does is not known; only curl and wget are read',
    ],
    [
      'two requests',
      script('curl -f https://a.example.com\ncurl -f https://b.example.com'),
      'its curl has more than one URL: https://a.example.com and curl https://b.example.com',
    ],
    [
      'a second command behind a comment',
      script('curl -f https://a.example.com # first\ncurl -f https://b.example.com'),
      'its script does more than send one request',
    ],
    ['a pipe', script('curl -f https://a.example.com | jq .'), 'its script does more than send one request'],
    [
      'a computed value',
      script('curl -f "https://a.example.com/$(date +%F)"'),
      'its script does more than send one request',
    ],
    [
      'a backtick',
      script('curl -f "https://a.example.com/`date`"'),
      'its script does more than send one request',
    ],
    [
      'a variable from elsewhere',
      script('curl -f "https://a.example.com/$DAY"'),
      'the value of $DAY is not in the CronJob',
    ],
    [
      'a secret in the URL',
      script('curl -f "https://a.example.com/$T"', {
        env: [{ name: 'T', valueFrom: { secretKeyRef: { name: 'a', key: 'b' } } }],
      }),
      'its URL holds the value of a Secret, which only a header may',
    ],
    [
      'a secret in the body',
      script('curl -f -d "$T" https://a.example.com', {
        env: [{ name: 'T', valueFrom: { secretKeyRef: { name: 'a', key: 'b' } } }],
      }),
      'its body holds the value of a Secret, which only a header may',
    ],
    [
      'a file',
      curl('-f', '-d', '@/data/body.json', 'https://a.example.com'),
      'its body is the file /data/body.json of its image',
    ],
    [
      'an unknown option',
      curl('-f', '--cert', 'a.pem', 'https://a.example.com'),
      "its curl has an option that no cron has: Unknown option '--cert'",
    ],
    ['HEAD', curl('-f', '-X', 'HEAD', 'https://a.example.com'), 'it sends HEAD, which no cron does'],
    [
      'a header of the connection',
      curl('-f', '-H', 'Host: b.example.com', 'https://a.example.com'),
      'its header Host controls the connection and cannot be set',
    ],
    [
      'a header twice',
      curl('-f', '-H', 'x-a: 1', '-H', 'X-A: 2', 'https://a.example.com'),
      'it sends the header X-A more than once',
    ],
    [
      'a header in other letters',
      curl('-f', '-H', 'X-A: ä', 'https://a.example.com'),
      'its header X-A is longer than 8192 bytes or not in visible ASCII',
    ],
    [
      'a long body',
      curl('-f', '--data-raw', 'x'.repeat(262_145), 'https://a.example.com'),
      'its body has more than 262144 characters',
    ],
    [
      'a long URL',
      curl('-f', `https://a.example.com/${'x'.repeat(2048)}`),
      'its URL has more than 2048 characters',
    ],
    ['no URL', curl('-f'), 'its curl has no URL'],
    [
      'another scheme',
      curl('-f', 'ftp://a.example.com'),
      'its URL ftp://a.example.com is neither http nor https',
    ],
  ])('says why %s stays a CronJob', async (_, given, reason) => {
    expect(await reasonOf(given)).toBe(reason)
  })

  test('says what no schedule here can be', async () => {
    expect(
      await reasonOf({ ...curl('-f', 'https://a.example.com'), spec: { schedule: '@every 1h' } }),
    ).toMatch(/^its schedule "@every 1h" /)
  })

  test('passes over what cannot be read, and what is no CronJob', async () => {
    const broken = { ...cronJob({ name: 'broken' }), spec: { schedule: '* * * * *' } }
    const { out, err, code } = await run(
      { apiVersion: 'v1', kind: 'ConfigMap', metadata: { name: 'x' } },
      broken,
      cronJob(curl('-f', 'https://a.example.com')),
    )
    expect(out).toMatch(
      /^# The CronJob shop\/broken stays: it is not as the API server would take it \(.*\)\.$/m,
    )
    expect(out).toMatch(/^kind: HttpCron$/m)
    expect({ err, code }).toEqual({
      err: 'punctual: 1 of 2 CronJobs have no HttpCron: shop/broken; the output says why\n',
      code: 1,
    })
  })

  test('keeps what a name or a reason holds out of the YAML', async () => {
    const { out } = await run(
      cronJob({ name: 'a\nkind: Secret', container: { image: 'x\ny: z', command: ['p\nq: r'] } }),
    )
    expect(out.split('\n').filter((line) => line !== '' && !line.startsWith('#'))).toEqual([])
  })

  test.each([
    ['a: [', 2, /^punctual: - is not YAML: /],
    ['kind: ConfigMap\n', 3, /^punctual: no CronJob was found\n$/],
  ])('refuses %j', async (text, code, message) => {
    const ran = await api.run(['import', 'cronjobs', '-f', '-'], { stdin: inputOf(text) })
    expect(ran).toMatchObject({ out: '', code, err: expect.stringMatching(message) })
  })
})
