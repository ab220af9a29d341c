import { CRON_PAYLOAD_CHARACTERS_MAX, cronScheduleOf } from '../../../domain/crons/cron.ts'
import {
  HEADER_VALUE_BYTES_MAX,
  RETRY_DELAYS_MAX,
  TIMEOUT_SECONDS_MAX,
  URL_CHARACTERS_MAX,
} from '../../../domain/limits.ts'
import { forbiddenHeaderReason, invalidHeaderValue } from '../../../domain/net/header-rules.ts'
import { isSecretHeader } from '../../../domain/secrets/secret-headers.ts'
import { programIn, wordsOf } from './command-words.ts'
import type { Container, CronJob } from './cron-job.ts'
import { requestOfCurl } from './curl-request.ts'
import { NotTaken } from './not-taken.ts'
import type { GivenRequest } from './request.ts'
import { hasMark, wholeMark, withoutMarks } from './secret-marks.ts'
import { requestOfWget } from './wget-request.ts'

const METHODS: ReadonlySet<string> = new Set(['GET', 'POST', 'PUT', 'PATCH', 'DELETE'])
const DEADLINE_SECONDS_MAX = 86_400
const MACROS: ReadonlyMap<string, string> = new Map([
  ['@yearly', '0 0 1 1 *'],
  ['@annually', '0 0 1 1 *'],
  ['@monthly', '0 0 1 * *'],
  ['@weekly', '0 0 * * 0'],
  ['@daily', '0 0 * * *'],
  ['@midnight', '0 0 * * *'],
  ['@hourly', '0 * * * *'],
])
/** Of a Job that does not say. */
const BACKOFF_LIMIT = 6
/** Kubernetes begins a failed pod anew after 10 s, 20 s, 40 s and so on, up to six minutes. */
const FIRST_DELAY_SECONDS = 10
const DELAY_SECONDS_MAX = 360

/** What takes the place of a CronJob. */
export interface Imported {
  readonly cron: Readonly<Record<string, unknown>>
  /** How often a run is tried again; the queue that does it is made for all crons with as many. */
  readonly retries: number
  /** What a person has to do, or to know, as sentences. */
  readonly notes: readonly string[]
}

/** @throws NotTaken when no HttpCron can do its work */
export function httpCronOf(job: CronJob): Imported {
  const { name, namespace } = job.metadata
  const request = requestOf(onlyContainer(job))
  const notes = [...request.notes]
  const { url, login } = urlOf(request, namespace, notes)
  const headers = headersOf({ ...request, login }, { name, host: new URL(url).hostname }, notes)
  const { spec } = job
  const retries = Math.min(
    RETRY_DELAYS_MAX,
    request.retries ?? spec.jobTemplate.spec.backoffLimit ?? BACKOFF_LIMIT,
  )
  const deadline = spec.startingDeadlineSeconds ?? null
  if (spec.concurrencyPolicy === 'Replace') {
    notes.push('A run in flight is not cut off: a tick is left out while one is, instead of Replace.')
  }
  const cron = {
    apiVersion: 'punctual.dev/v1alpha1',
    kind: 'HttpCron',
    metadata: { name, ...(namespace === undefined ? {} : { namespace }) },
    spec: {
      ...scheduleOf(spec),
      url,
      method: methodOf(request),
      ...(headers.length === 0 ? {} : { headers }),
      ...(request.body === null ? {} : { payload: bodyOf(request.body) }),
      ...(spec.suspend === true ? { active: false } : {}),
      ...(spec.concurrencyPolicy === 'Forbid' || spec.concurrencyPolicy === 'Replace'
        ? { concurrencyPolicy: 'Forbid' }
        : {}),
      ...(deadline === null ? {} : { startingDeadlineSeconds: between(1, deadline, DEADLINE_SECONDS_MAX) }),
      timeoutSeconds: timeoutOf(request, spec.jobTemplate.spec.activeDeadlineSeconds, notes),
      ...(retries === 0 ? {} : { queue: queueNameOf(retries) }),
    },
  }
  return { cron, retries, notes }
}

/** The queue for crons that are tried again so often. */
export function queueOf(retries: number, namespace: string | undefined): Readonly<Record<string, unknown>> {
  const delays = Array.from({ length: retries }, (_, i) =>
    Math.min(DELAY_SECONDS_MAX, FIRST_DELAY_SECONDS * 2 ** i),
  )
  return {
    apiVersion: 'punctual.dev/v1alpha1',
    kind: 'HttpQueue',
    metadata: { name: queueNameOf(retries), ...(namespace === undefined ? {} : { namespace }) },
    spec: { retryDelays: delays },
  }
}

function queueNameOf(retries: number): string {
  return `crons-tried-${retries + 1}-times`
}

function onlyContainer({ spec }: CronJob): Container {
  const { containers, initContainers = [] } = spec.jobTemplate.spec.template.spec
  const [first, ...others] = containers
  if (first === undefined || others.length > 0 || initContainers.length > 0) {
    throw new NotTaken('its pod has more than one container')
  }
  return first
}

function requestOf(container: Container): GivenRequest {
  const [program = '', ...words] = wordsOf(container)
  switch (programIn(program)) {
    case 'curl':
      return requestOfCurl(words)
    case 'wget':
      return requestOfWget(words)
    case 'busybox':
      if (words[0] === 'wget') return requestOfWget(words.slice(1))
  }
  const what =
    program === '' ? `the image ${container.image ?? ''} does` : `the program ${programIn(program)} does`
  throw new NotTaken(`what ${what} is not known; only curl and wget are read`)
}

/** The whole address: that of a service of its namespace is another one from where executors run. */
function urlOf(
  request: GivenRequest,
  namespace: string | undefined,
  notes: string[],
): { readonly url: string; readonly login: string | null } {
  if (hasMark(request.url)) throw new NotTaken('its URL holds the value of a Secret, which only a header may')
  const url = URL.parse(/^[a-z][a-z0-9+.-]*:\/\//i.test(request.url) ? request.url : `http://${request.url}`)
  if (url === null || !/^https?:$/.test(url.protocol))
    throw new NotTaken(`its URL ${request.url} is neither http nor https`)
  const login =
    url.username === ''
      ? request.login
      : `${decodeURIComponent(url.username)}:${decodeURIComponent(url.password)}`
  url.username = ''
  url.password = ''
  if (!url.hostname.includes('.') && !url.hostname.startsWith('[')) {
    url.hostname = `${url.hostname}.${namespace ?? 'default'}.svc`
  }
  if (/\.svc(?:\.|$)/.test(url.hostname)) {
    notes.push(`${url.hostname} is in the cluster: TeamSettings must allow its address (egress.allow).`)
  }
  if (url.href.length > URL_CHARACTERS_MAX) {
    throw new NotTaken(`its URL has more than ${URL_CHARACTERS_MAX} characters`)
  }
  return { url: url.href, login }
}

interface Target {
  /** Of the cron. */
  readonly name: string
  readonly host: string
}

type Header = Readonly<Record<string, unknown>>

function headersOf(
  { headers, login }: Pick<GivenRequest, 'headers' | 'login'>,
  target: Target,
  notes: string[],
): Header[] {
  const hasOwn = headers.some(([name]) => name.toLowerCase() === 'authorization')
  // A header that is given wins over a login, in curl as well.
  const given = login === null || hasOwn ? headers : [...headers, ['Authorization', 'Basic …'] as const]
  checkNames(given.map(([name]) => name))
  return given.map(([name, value]) => {
    if (!hasMark(value) && !isSecretHeader(name)) return { name, value: checkedValue(name, value) }
    return { name, valueFrom: { secretKeyRef: secretOf({ name, value }, target, notes) } }
  })
}

function checkNames(names: readonly string[]): void {
  const seen = new Set<string>()
  for (const name of names) {
    const reason = forbiddenHeaderReason(name)
    if (reason !== null) throw new NotTaken(`its header ${name} ${reason}`)
    if (seen.has(name.toLowerCase())) throw new NotTaken(`it sends the header ${name} more than once`)
    seen.add(name.toLowerCase())
  }
}

function checkedValue(name: string, value: string): string {
  if (!invalidHeaderValue(value) && value.length <= HEADER_VALUE_BYTES_MAX) return value
  throw new NotTaken(
    `its header ${name} is longer than ${HEADER_VALUE_BYTES_MAX} bytes or not in visible ASCII`,
  )
}

/** The key that holds the value: the one it had, where that is all of it, else one that a person has to make. */
function secretOf(
  header: { readonly name: string; readonly value: string },
  { name, host }: Target,
  notes: string[],
): { readonly name: string; readonly key: string } {
  const whole = wholeMark(header.value)
  const ref = whole ?? { name: `${name}-headers`, key: header.name.toLowerCase() }
  const marks = `label it punctual.dev/secret=header and annotate it punctual.dev/hosts=${host}`
  notes.push(
    whole === null
      ? `Make the Secret ${ref.name} with the key ${ref.key}, the whole value of ${header.name} ` +
          `(${hasMark(header.value) ? withoutMarks(header.value) : 'as in the CronJob'}); ${marks}.`
      : `The Secret ${ref.name} is used: ${marks}.`,
  )
  return ref
}

function bodyOf(body: string): string {
  if (hasMark(body)) throw new NotTaken('its body holds the value of a Secret, which only a header may')
  if (body.length <= CRON_PAYLOAD_CHARACTERS_MAX) return body
  throw new NotTaken(`its body has more than ${CRON_PAYLOAD_CHARACTERS_MAX} characters`)
}

function methodOf({ method, body }: GivenRequest): string {
  const named = method ?? (body === null ? 'GET' : 'POST')
  if (METHODS.has(named)) return named
  throw new NotTaken(`it sends ${named}, which no cron does`)
}

function scheduleOf({ schedule, timeZone }: CronJob['spec']) {
  const [, zone = timeZone ?? 'UTC', given = ''] =
    /^(?:(?:CRON_)?TZ=(\S+)\s+)?(.*)$/s.exec(schedule.trim()) ?? []
  const cronExpression = MACROS.get(given) ?? given
  const read = cronScheduleOf({ cronExpression, timeZone: zone })
  if ('problem' in read) throw new NotTaken(`its schedule "${schedule}" ${read.problem}`)
  return { cronExpression, ...(zone === 'UTC' ? {} : { timeZone: zone }) }
}

function timeoutOf(
  { timeoutSeconds }: GivenRequest,
  deadlineSeconds: number | undefined,
  notes: string[],
): number {
  const given = Math.min(timeoutSeconds ?? Infinity, deadlineSeconds ?? Infinity)
  if (given > TIMEOUT_SECONDS_MAX && given !== Infinity) {
    notes.push(`A call may take ${TIMEOUT_SECONDS_MAX} s at most, and not ${given} s as before.`)
  }
  return between(1, given, TIMEOUT_SECONDS_MAX)
}

function between(least: number, value: number, most: number): number {
  return Math.min(most, Math.max(least, value))
}
