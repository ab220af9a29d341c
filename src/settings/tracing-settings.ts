import { excerpt } from '../domain/excerpt.ts'
import { found, integerBetween, oneOf, refused, type Parser } from './parsers.ts'
import type { Environment } from './setting.ts'

/** What OpenTelemetry's own variables say of the traces of this process. */
export interface TracingSettings {
  /** Where spans are posted to, with its path. */
  readonly endpoint: string
  /** Sent with each post; they may hold a secret. */
  readonly headers: Readonly<Record<string, string>>
  /** Of one post with its retries. */
  readonly timeoutMs: number
  readonly sampler: SamplerSettings
  /** null = that of the role. */
  readonly serviceName: string | null
  readonly resourceAttributes: Readonly<Record<string, string>>
  /** Most spans that wait or are on their way; further ones are dropped. */
  readonly queueMax: number
  readonly batchMax: number
  readonly delayMs: number
  /** PEM files: authorities to trust, and what the process shows of itself. */
  readonly certificates: {
    readonly ca: string | null
    readonly cert: string | null
    readonly key: string | null
  }
}

export interface SamplerSettings {
  /** The share of traces that are recorded, 0–1. */
  readonly ratio: number
  /** Whether a caller's decision goes first. */
  readonly isParentBased: boolean
}

const QUEUE_MAX = 100_000
const TIMEOUT_MS_MAX = 60_000
const DELAY_MS_MAX = 60_000
const PAIRS_MAX = 64
const PAIR_NAME = /^[!#$%&'*+.^_`|~0-9A-Za-z/-]{1,256}$/
const HEADER_NAME = /^[!#$%&'*+.^_`|~0-9A-Za-z-]{1,256}$/
const SHOWN_CHARACTERS_MAX = 80
const SAMPLERS = ['always_on', 'always_off', 'traceidratio'] as const
const PARENT_BASED = 'parentbased_'
const TRACES_PATH = 'v1/traces'

/** The variables that are read, without those for traces alone. Those that say nothing of traces are not looked at. */
export const TRACING_VARIABLES = [
  'OTEL_SDK_DISABLED',
  'OTEL_TRACES_EXPORTER',
  'OTEL_EXPORTER_OTLP_ENDPOINT',
  'OTEL_EXPORTER_OTLP_PROTOCOL',
  'OTEL_EXPORTER_OTLP_HEADERS',
  'OTEL_EXPORTER_OTLP_TIMEOUT',
  'OTEL_EXPORTER_OTLP_COMPRESSION',
  'OTEL_EXPORTER_OTLP_CERTIFICATE',
  'OTEL_EXPORTER_OTLP_CLIENT_CERTIFICATE',
  'OTEL_EXPORTER_OTLP_CLIENT_KEY',
  'OTEL_TRACES_SAMPLER',
  'OTEL_TRACES_SAMPLER_ARG',
  'OTEL_SERVICE_NAME',
  'OTEL_RESOURCE_ATTRIBUTES',
  'OTEL_BSP_MAX_QUEUE_SIZE',
  'OTEL_BSP_MAX_EXPORT_BATCH_SIZE',
  'OTEL_BSP_SCHEDULE_DELAY',
] as const
type Variable = (typeof TRACING_VARIABLES)[number]

/** Reads variables one after the other, and collects what is wrong with them. */
class Variables {
  readonly mistakes: string[] = []
  readonly #env: Environment

  constructor(env: Environment) {
    this.#env = env
  }

  /** The variable, or that for traces alone, which goes first. An empty one is not set. */
  read<T>(name: Variable, parse: Parser<T>, { isSecret = false } = {}): T | null {
    const own = name.replace('OTEL_EXPORTER_OTLP_', 'OTEL_EXPORTER_OTLP_TRACES_')
    const [given = null] = [own, name].filter((one) => (this.#env[one] ?? '').trim() !== '')
    if (given === null) return null
    const text = (this.#env[given] ?? '').trim()
    const parsed = parse(text)
    if (parsed.ok) return parsed.value
    const shown = isSecret
      ? 'has a value that'
      : `is ${JSON.stringify(excerpt(text, SHOWN_CHARACTERS_MAX))}, which`
    this.mistakes.push(`${given} ${shown} is not allowed: it must be ${parsed.allowed}.`)
    return null
  }
}

/**
 * Reads the variables of OpenTelemetry. `tracing` is null where no endpoint is set, or tracing is turned off; the other
 * variables are not looked at then.
 */
export function readTracing(env: Environment): {
  readonly tracing: TracingSettings | null
  readonly mistakes: readonly string[]
} {
  const variables = new Variables(env)
  const isDisabled = variables.read('OTEL_SDK_DISABLED', parseBoolean) ?? false
  const exporter = variables.read('OTEL_TRACES_EXPORTER', oneOf(['otlp', 'none'])) ?? 'otlp'
  const endpoint = readEndpoint(variables, env)
  const { mistakes } = variables
  if (isDisabled || exporter === 'none' || (endpoint === null && mistakes.length === 0)) {
    return { tracing: null, mistakes }
  }
  variables.read('OTEL_EXPORTER_OTLP_PROTOCOL', parseProtocol)
  // The exporter reads it by itself.
  variables.read('OTEL_EXPORTER_OTLP_COMPRESSION', oneOf(['none', 'gzip']))
  const queueMax = variables.read('OTEL_BSP_MAX_QUEUE_SIZE', integerBetween(1, QUEUE_MAX)) ?? 2_048
  const tracing: TracingSettings = {
    endpoint: endpoint ?? '',
    headers: variables.read('OTEL_EXPORTER_OTLP_HEADERS', parseHeaders, { isSecret: true }) ?? {},
    timeoutMs: variables.read('OTEL_EXPORTER_OTLP_TIMEOUT', integerBetween(1, TIMEOUT_MS_MAX)) ?? 10_000,
    sampler: readSampler(variables),
    serviceName: variables.read('OTEL_SERVICE_NAME', (text) => found(text)),
    resourceAttributes: variables.read('OTEL_RESOURCE_ATTRIBUTES', parseAttributes) ?? {},
    queueMax,
    batchMax: Math.min(
      queueMax,
      variables.read('OTEL_BSP_MAX_EXPORT_BATCH_SIZE', integerBetween(1, QUEUE_MAX)) ?? 512,
    ),
    delayMs: variables.read('OTEL_BSP_SCHEDULE_DELAY', integerBetween(1, DELAY_MS_MAX)) ?? 5_000,
    certificates: readCertificates(variables),
  }
  return { tracing: mistakes.length > 0 ? null : tracing, mistakes }
}

/** The settings as the log shows them: of headers only their names. */
export function describeTracing({ headers, ...others }: TracingSettings): Record<string, unknown> {
  return { ...others, headerNames: Object.keys(headers) }
}

function readEndpoint(variables: Variables, env: Environment): string | null {
  const url = variables.read('OTEL_EXPORTER_OTLP_ENDPOINT', parseEndpoint)
  if (url === null || (env['OTEL_EXPORTER_OTLP_TRACES_ENDPOINT'] ?? '').trim() !== '') return url
  return `${url.replace(/\/*$/, '/')}${TRACES_PATH}`
}

function readCertificates(variables: Variables): TracingSettings['certificates'] {
  const pathOf = (name: Variable) => variables.read(name, (text) => found(text))
  const [cert, key] = [
    pathOf('OTEL_EXPORTER_OTLP_CLIENT_CERTIFICATE'),
    pathOf('OTEL_EXPORTER_OTLP_CLIENT_KEY'),
  ]
  if ((cert === null) !== (key === null)) {
    variables.mistakes.push(
      'OTEL_EXPORTER_OTLP_CLIENT_CERTIFICATE and OTEL_EXPORTER_OTLP_CLIENT_KEY belong together: set both or neither.',
    )
  }
  return { ca: pathOf('OTEL_EXPORTER_OTLP_CERTIFICATE'), cert, key }
}

function readSampler(variables: Variables): SamplerSettings {
  const names = SAMPLERS.flatMap((name) => [name, `${PARENT_BASED}${name}` as const])
  const name = variables.read('OTEL_TRACES_SAMPLER', oneOf(names)) ?? 'parentbased_always_on'
  const given = variables.read('OTEL_TRACES_SAMPLER_ARG', parseRatio)
  const kind = name.replace(PARENT_BASED, '')
  const ratio = kind === 'always_off' ? 0 : kind === 'always_on' ? 1 : (given ?? 1)
  return { ratio, isParentBased: name.startsWith(PARENT_BASED) }
}

const parseBoolean: Parser<boolean> = (text) =>
  /^(?:true|false)$/i.test(text) ? found(text.toLowerCase() === 'true') : refused('true or false')

const parseProtocol: Parser<string> = (text) =>
  text === 'http/protobuf'
    ? found(text)
    : refused('http/protobuf, the one protocol that Punctual speaks, at port 4318 of most collectors')

const parseRatio: Parser<number> = (text) => {
  const value = /^(?:[01]|[01]?\.[0-9]{1,9}|1\.0+)$/.test(text) ? Number(text) : -1
  return value >= 0 && value <= 1 ? found(value) : refused('a number from 0 to 1')
}

const parseEndpoint: Parser<string> = (text) => {
  const url = URL.parse(text)
  const isHttp = url?.protocol === 'http:' || url?.protocol === 'https:'
  const isPlain = url?.username === '' && url.password === '' && url.search === '' && url.hash === ''
  return url !== null && isHttp && isPlain
    ? found(url.href)
    : refused('a URL such as http://collector:4318, without a user, a query or a fragment')
}

const parseHeaders: Parser<Record<string, string>> = (text) => {
  const pairs = pairsOf(text, HEADER_NAME)
  const isSound = pairs !== null && Object.values(pairs).every((value) => /^[\t\x20-\x7e]*$/.test(value))
  return isSound ? found(pairs) : refused('headers such as api-key=abc,team=x, their values percent-encoded')
}

const parseAttributes: Parser<Record<string, string>> = (text) => {
  const pairs = pairsOf(text, PAIR_NAME)
  return pairs === null
    ? refused('attributes such as deployment.environment=prod,team=x, their values percent-encoded')
    : found(pairs)
}

/** Reads `a=b,c=d`; null when it has another form. */
function pairsOf(text: string, nameForm: RegExp): Record<string, string> | null {
  const parts = text.split(',').filter((part) => part.trim() !== '')
  if (parts.length > PAIRS_MAX) return null
  const pairs: Array<readonly [string, string]> = []
  for (const part of parts) {
    const at = part.indexOf('=')
    const name = part.slice(0, at).trim()
    if (at === -1 || !nameForm.test(name)) return null
    try {
      pairs.push([name, decodeURIComponent(part.slice(at + 1).trim())])
    } catch {
      return null
    }
  }
  return Object.fromEntries(pairs)
}
