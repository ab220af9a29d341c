import { BATCH_JOBS_MAX, BULK_IDS_MAX, REQUEST_BODY_BYTES_MAX } from '../../src/domain/limits.ts'

export interface CostlyRequest {
  readonly name: string
  readonly method: 'GET' | 'POST' | 'PATCH'
  readonly path: string
  readonly body?: string
}

const LEAP_DAY = { cron_expression: '0 0 29 2 *', time_zone: 'America/St_Johns' }
const HOOK = 'http://127.0.0.1:9/'
/** Of the body beside its payload. */
const SLACK_BYTES = 2_000
const MEBIBYTE = REQUEST_BODY_BYTES_MAX - SLACK_BYTES

/** As many pieces as fit into a body. */
function filled(piece: (index: number) => string, bytes = MEBIBYTE): string {
  const pieces: string[] = []
  for (let [length, index] = [0, 0]; ; index += 1) {
    const text = piece(index)
    length += text.length + 1
    if (length > bytes) return pieces.join(',')
    pieces.push(text)
  }
}

const MANY_KEYS = `{${filled((i) => `"k${i}":1`)}}`
const DEEP = `{"a":${'['.repeat(500_000)}${']'.repeat(500_000)}}`
const TEXT = JSON.stringify({ text: 'é'.repeat(MEBIBYTE / 2) })
const ESCAPED = JSON.stringify({ text: '\n'.repeat(MEBIBYTE / 2) })

function push(payload: string): string {
  return `{"queue":"q","url":"${HOOK}","payload":${payload}}`
}

/** With the most that the contract allows of what costs CPU. */
export function costlyRequests(ids: {
  readonly queue: number
  readonly cron: number
  readonly job: number
  readonly jobs: readonly number[]
}): CostlyRequest[] {
  const schedules = Array.from({ length: 10 }, () => ({ ...LEAP_DAY, duration_seconds: 3_600 }))
  const everyMinute = Array.from({ length: 10 }, () => ({
    cron_expression: '* * * * *',
    duration_seconds: 60,
  }))
  const job = { queue: 'q', url: HOOK, payload: { a: 'x'.repeat(100) } }
  const headers = Object.fromEntries(Array.from({ length: 64 }, (_, i) => [`X-${i}`, 'v'.repeat(100)]))
  const batch = (one: object) => JSON.stringify({ jobs: Array.from({ length: BATCH_JOBS_MAX }, () => one) })
  const wrong = { queue: '', url: 'ftp://x', method: 'NO', headers: { Host: 'x' }, delay: -1, tags: 5 }
  const posts = (path: string, body: string): CostlyRequest[] => [
    { name: `POST ${path}, ${MANY_KEYS.length} bytes of keys`, method: 'POST', path, body },
  ]
  return [
    {
      name: 'previews of windows',
      method: 'POST',
      path: '/api/window-openings',
      body: JSON.stringify({ recurring: schedules }),
    },
    {
      name: 'previews of busy windows',
      method: 'POST',
      path: '/api/window-openings',
      body: JSON.stringify({ recurring: everyMinute }),
    },
    {
      name: 'previews of crons',
      method: 'POST',
      path: '/api/crons/preview',
      body: JSON.stringify({ ...LEAP_DAY, count: 100 }),
    },
    { name: 'list of windows', method: 'GET', path: '/api/maintenance-windows?limit=1000' },
    {
      name: 'calendar of windows',
      method: 'GET',
      path: '/api/window-openings?after=2026-11-01T00:00:00Z&before=2027-01-01T00:00:00Z',
    },
    { name: 'pushes of many keys', method: 'POST', path: '/api/jobs', body: push(MANY_KEYS) },
    { name: 'pushes of deep payloads', method: 'POST', path: '/api/jobs', body: push(DEEP) },
    { name: 'pushes of long text', method: 'POST', path: '/api/jobs', body: push(TEXT) },
    { name: 'pushes of escapes', method: 'POST', path: '/api/jobs', body: push(ESCAPED) },
    { name: 'pushes of unknown fields', method: 'POST', path: '/api/jobs', body: MANY_KEYS },
    {
      name: 'pushes of many headers',
      method: 'POST',
      path: '/api/jobs',
      body: `{"queue":"q","url":"${HOOK}","headers":{${filled((i) => `"H${i}":"1"`)}}}`,
    },
    {
      name: 'pushes of headers repeated',
      method: 'POST',
      path: '/api/jobs',
      body: JSON.stringify({ ...job, headers }),
    },
    {
      name: 'pushes of white space',
      method: 'POST',
      path: '/api/jobs',
      body: push(`{}${' '.repeat(MEBIBYTE)}`),
    },
    { name: 'pushes of wrong UTF-8', method: 'POST', path: '/api/jobs', body: `{${'\n'.repeat(MEBIBYTE)}` },
    { name: 'batches', method: 'POST', path: '/api/jobs/batch', body: batch(job) },
    {
      name: 'batches of many headers',
      method: 'POST',
      path: '/api/jobs/batch',
      body: batch({ ...job, headers }),
    },
    { name: 'batches of wrong jobs', method: 'POST', path: '/api/jobs/batch', body: batch(wrong) },
    {
      name: 'batches of big jobs',
      method: 'POST',
      path: '/api/jobs/batch',
      body: `{"jobs":[${Array.from({ length: 15 }, () => push(MANY_KEYS)).join(',')}]}`,
    },
    {
      name: 'bulks of unknown ids',
      method: 'POST',
      path: '/api/bulk',
      body: JSON.stringify({
        action: 'cancel',
        ids: Array.from({ length: BULK_IDS_MAX }, (_, i) => ids.job + i * 4096),
        dry_run: true,
      }),
    },
    {
      name: 'bulks of ids',
      method: 'POST',
      path: '/api/bulk',
      body: JSON.stringify({ action: 'retry', ids: ids.jobs }),
    },
    {
      name: 'bulks of other values',
      method: 'POST',
      path: '/api/bulk',
      body: `{"action":"cancel","ids":[${filled(() => '{}', 600_000)}]}`,
    },
    {
      name: 'bulks of nested arrays',
      method: 'POST',
      path: '/api/bulk',
      body: `{"action":"cancel","ids":[${filled(() => '[[[]]]', 600_000)}]}`,
    },
    {
      name: 'bulks of a filter',
      method: 'POST',
      path: '/api/bulk',
      body: JSON.stringify({ action: 'cancel', filter: { text: 'none' }, dry_run: true }),
    },
    {
      name: 'replays of many keys',
      method: 'POST',
      path: `/api/jobs/${ids.job}/replay`,
      body: `{"payload":${MANY_KEYS}}`,
    },
    {
      name: 'duplicates of many keys',
      method: 'POST',
      path: `/api/jobs/${ids.job}/duplicate`,
      body: `{"payload":${MANY_KEYS}}`,
    },
    ...[
      '/api/crons',
      '/api/crons/preview',
      '/api/maintenance-windows',
      '/api/window-openings',
      '/api/tokens',
      '/api/signing-secrets',
      '/api/alerts/read',
      '/api/notifications/test',
      '/api/bulk',
      `/api/queues/${ids.queue}/pause`,
    ].flatMap((path) => posts(path, MANY_KEYS)),
    ...[
      '/api/crons',
      '/api/crons/preview',
      '/api/maintenance-windows',
      '/api/tokens',
      '/api/session',
    ].flatMap((path) => posts(path, `{"name":${MANY_KEYS},"payload":${MANY_KEYS.slice(0, 1000)}"}}`)),
    {
      name: 'edits of a queue of many keys',
      method: 'PATCH',
      path: `/api/queues/${ids.queue}`,
      body: `{"success_assertions":${MANY_KEYS}}`,
    },
    {
      name: 'edits of a cron of many keys',
      method: 'PATCH',
      path: `/api/crons/${ids.cron}`,
      body: `{"payload":${MANY_KEYS}}`,
    },
    { name: 'list of jobs', method: 'GET', path: '/api/jobs?limit=1000' },
    { name: 'list of jobs by text', method: 'GET', path: '/api/jobs?limit=1000&text=none' },
    { name: 'a job', method: 'GET', path: `/api/jobs/${ids.job}` },
    { name: 'list of dead letter groups', method: 'GET', path: '/api/jobs/dead-letter-groups' },
    { name: 'list of queues', method: 'GET', path: '/api/queues?limit=1000' },
    { name: 'list of crons', method: 'GET', path: '/api/crons?limit=1000' },
    { name: 'a cron', method: 'GET', path: `/api/crons/${ids.cron}` },
    { name: 'manifest of a cron', method: 'GET', path: `/api/crons/${ids.cron}/manifest` },
    { name: 'runs of a cron', method: 'GET', path: `/api/crons/${ids.cron}/runs?limit=1000` },
    { name: 'list of alerts', method: 'GET', path: '/api/alerts?limit=1000' },
    { name: 'counts of alerts', method: 'GET', path: '/api/alerts/counts' },
    { name: 'list of the audit log', method: 'GET', path: '/api/audit?limit=1000' },
    { name: 'list of the audit log by actor', method: 'GET', path: '/api/audit?limit=1000&actor=nobody' },
    { name: 'list of tokens', method: 'GET', path: '/api/tokens' },
    { name: 'list of signing secrets', method: 'GET', path: '/api/signing-secrets' },
    { name: 'list of bulks', method: 'GET', path: '/api/bulk?limit=1000' },
    { name: 'statistics of the team', method: 'GET', path: '/api/stats?since=2026-11-22T00:00:00Z&step=600' },
    {
      name: 'statistics of a queue',
      method: 'GET',
      path: `/api/queues/${ids.queue}/stats?since=2026-11-22T00:00:00Z&step=600`,
    },
    { name: 'state of a queue', method: 'GET', path: `/api/queues/${ids.queue}/state` },
    { name: 'a queue', method: 'GET', path: `/api/queues/${ids.queue}` },
    { name: 'the team', method: 'GET', path: '/api/team' },
    { name: 'the contract', method: 'GET', path: '/api/openapi.json' },
    { name: 'the dashboard', method: 'GET', path: '/' },
    { name: 'a cursor of nothing', method: 'GET', path: `/api/jobs?limit=1000&cursor=${'A'.repeat(8_000)}` },
    {
      name: 'a query of many parameters',
      method: 'GET',
      path: `/api/jobs?${filled((i) => `a${i}=1`, 14_000).replaceAll(',', '&')}`,
    },
  ]
}
