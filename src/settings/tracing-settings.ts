import { excerpt } from '../domain/excerpt.ts'
import { found, integerBetween, oneOf, type Parser } from './parsers.ts'
import type { Environment } from './setting.ts'
import {
  parseAttributes,
  parseBoolean,
  parseEndpoint,
  parseHeaders,
  parseProtocol,
  parseRatio,
} from './tracing-parsers.ts'

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
  return `${url}${url.endsWith('/') ? '' : '/'}${TRACES_PATH}`
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
