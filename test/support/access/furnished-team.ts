/** A team that has one of everything that a path of the API can name. */
import type { AlertList, Bulk, IssueList, Queue } from '../../../clients/typescript/src/generated/wire.ts'
import type { ApiClient } from '../servers/api-client.ts'
import { until } from '../until.ts'
import type { Belongings, Snapshot } from './access-matrix.ts'

/** Where nothing listens: a call fails at once. */
const NOWHERE = 'http://127.0.0.1:9/'
const DAY_SECONDS = 86_400

/**
 * @param client with all permissions in the team
 * @param name stands in the names of all that is made
 */
export async function furnish(client: ApiClient, name: string): Promise<Belongings> {
  const canary = `canary-of-${name}`
  const made = async <T>(path: string, body: object): Promise<T> => {
    const answer = await client.send<T>('POST', path, body)
    if (answer.status >= 300) throw new Error(`${path}: ${answer.status} ${JSON.stringify(answer.body)}`)
    return answer.body
  }
  const { queue_id: queueId } = await made<Queue>('/api/queues', {
    name: canary,
    alerts_enabled: true,
    retries_enabled: false,
  })
  const failing = await client.push({ queue: canary, url: `${NOWHERE}${canary}` })
  await client.ended(failing.job_id)
  const pending = await client.push({
    queue: canary,
    url: `${NOWHERE}${canary}`,
    delay: DAY_SECONDS,
    tags: { of: canary },
  })
  const alert = await until('an alert is raised', async () => {
    const { body } = await client.send<AlertList>('GET', '/api/alerts')
    return body.alerts[0] ?? null
  })
  const issue = await until('an issue is open', async () => {
    const { body } = await client.send<IssueList>('GET', '/api/issues')
    return body.issues[0] ?? null
  })
  const bulk = await made<Bulk>('/api/bulk', { action: 'fire', filter: { queue: canary, tag: 'of:nothing' } })
  await until('the bulk is done', async () => {
    const { body } = await client.send<Bulk>('GET', `/api/bulk/${bulk.id}`)
    return body.state === 'done'
  })
  const cron = await made<{ id: number }>('/api/crons', {
    name: canary,
    url: `${NOWHERE}${canary}`,
    cron_expression: '0 0 1 1 *',
    is_active: false,
  })
  const window = await made<{ id: string }>('/api/maintenance-windows', {
    name: canary,
    start_at: '2030-01-01T00:00:00Z',
    end_at: '2030-01-01T01:00:00Z',
  })
  const token = await made<{ name: string; token: string }>('/api/tokens', { name: canary })
  const secret = await made<{ id: string }>('/api/signing-secrets', {})
  await made('/api/notification-channels', { name: canary, type: 'email', test: false })
  // Of this token, which belongs to none of those that ask.
  const session = await client.send('POST', '/api/session', undefined, {
    authorization: `Bearer ${token.token}`,
  })
  const sessions = await client.send<{ sessions: Array<{ id: string }> }>('GET', '/api/team/sessions')
  if (session.status !== 201 || sessions.body.sessions.length === 0) throw new Error('there is no session')
  const ids = {
    job_id: String(pending.job_id),
    queue_id: String(queueId),
    cron_id: String(cron.id),
    window_id: window.id,
    alert_id: String(alert.id),
    issue_id: issue.id,
    bulk_id: String(bulk.id),
    token_id: token.name,
    channel_id: canary,
    signing_secret_id: secret.id,
    session_id: String(sessions.body.sessions[0]?.id),
  }
  return { ids, canary }
}

const LISTS = [
  'jobs',
  'queues',
  'crons',
  'alerts',
  'issues',
  'maintenance-windows',
  'tokens',
  'notification-channels',
  'signing-secrets',
  'bulk',
  'team/sessions',
  'audit',
]

/** When something was used last, or counts of what goes on: they change without a deed. */
const MOVING = new Set(['last_used_at', 'last_hour', 'next_cursor', 'version', 'searched'])

/**
 * All that the team has, in a form that is the same until somebody changes something. Sessions and their records in the
 * audit log are left out but for those of the belongings: whoever may log in may do so.
 */
export async function snapshotOf(client: ApiClient, { ids, canary }: Belongings): Promise<Snapshot> {
  const lists = LISTS.map(async (path) => {
    const { status, body } = await client.send<Record<string, unknown[]>>('GET', `/api/${path}?limit=1000`)
    if (status !== 200) throw new Error(`GET /api/${path} is ${status}: ${JSON.stringify(body)}`)
    const listed = Object.values(body).find(Array.isArray) ?? []
    const kept = listed.filter((one) => isKept(path, one as Record<string, unknown>, ids))
    const still = JSON.stringify(kept, (key, value: unknown) => (MOVING.has(key) ? undefined : value))
    return [`${path} of ${canary}`, JSON.parse(still) as unknown] as const
  })
  return Object.fromEntries(await Promise.all(lists))
}

function isKept(path: string, one: Readonly<Record<string, unknown>>, ids: Belongings['ids']): boolean {
  if (path === 'team/sessions') return one['id'] === ids['session_id']
  return path !== 'audit' || (one['resource'] as { kind: string }).kind !== 'session'
}
