/** A tracing system that takes spans by OTLP/HTTP in protobuf and remembers them. */
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { gunzipSync } from 'node:zlib'
import { until } from '../until.ts'

export interface ReceivedSpan {
  readonly traceId: string
  readonly spanId: string
  /** '' = it is a root. */
  readonly parentId: string
  readonly state: string
  readonly name: string
  readonly kind: string
  /** Unix ms. */
  readonly startMs: number
  readonly endMs: number
  readonly attributes: Readonly<Record<string, unknown>>
  /** Trace and span ids, as `<trace id>-<span id>`. */
  readonly links: readonly string[]
  readonly isError: boolean
  readonly service: string
}

export interface OtlpReceiver {
  /** As OTEL_EXPORTER_OTLP_ENDPOINT wants it. */
  readonly url: string
  spans(): readonly ReceivedSpan[]
  /** Headers of the posts. */
  readonly headers: ReadonlyArray<Readonly<Record<string, unknown>>>
  /** Everything that was posted, as text, to look for what must not be in it. */
  text(): string
  /** Resolves when this many spans are there that `matches`. */
  received(count: number, matches?: (span: ReceivedSpan) => boolean): Promise<readonly ReceivedSpan[]>
  /** From now on posts get this status; `hang` = none at all. */
  answer(status: number | 'hang'): void
  close(): Promise<void>
}

const KINDS = ['unspecified', 'internal', 'server', 'client', 'producer', 'consumer']
const ERROR = 2n

export async function startOtlpReceiver(): Promise<OtlpReceiver> {
  const spans: ReceivedSpan[] = []
  const headers: Array<Readonly<Record<string, unknown>>> = []
  const bodies: Buffer[] = []
  let answering: number | 'hang' = 200
  const server = createServer((request, response) => {
    const chunks: Buffer[] = []
    request.on('data', (chunk: Buffer) => chunks.push(chunk))
    request.on('end', () => {
      headers.push({ ...request.headers, path: request.url })
      if (answering === 'hang') return
      const sent = Buffer.concat(chunks)
      const body = request.headers['content-encoding'] === 'gzip' ? gunzipSync(sent) : sent
      if (answering === 200) {
        bodies.push(body)
        spans.push(...spansIn(body))
      }
      response.writeHead(answering, { 'content-type': 'application/x-protobuf' }).end()
    })
  })
  await new Promise<void>((resolve) => void server.listen(0, '127.0.0.1', resolve))
  const { port } = server.address() as AddressInfo
  return {
    url: `http://127.0.0.1:${port}`,
    spans: () => spans,
    headers,
    text: () => Buffer.concat(bodies).toString('latin1'),
    received: async (count, matches = () => true) => {
      await until(`${count} spans`, () => spans.filter(matches).length >= count)
      return spans.filter(matches)
    },
    answer: (status) => {
      answering = status
    },
    close: () =>
      new Promise((resolve) => {
        server.close(() => resolve())
        server.closeAllConnections()
      }),
  }
}

/** The fields of a message of protobuf, by number: numbers as bigint, everything else as bytes. */
type Message = ReadonlyMap<number, ReadonlyArray<bigint | Buffer>>

function spansIn(body: Buffer): ReceivedSpan[] {
  return parts(decode(body), 1).flatMap((resourceSpans) => {
    const [resource] = parts(resourceSpans, 1)
    const service = String(attributesOf(resource ?? new Map(), 1)['service.name'])
    return parts(resourceSpans, 2)
      .flatMap((scopeSpans) => parts(scopeSpans, 2))
      .map((span) => spanOf(span, service))
  })
}

function spanOf(span: Message, service: string): ReceivedSpan {
  const [status] = parts(span, 15)
  return {
    traceId: hex(span, 1),
    spanId: hex(span, 2),
    parentId: hex(span, 4),
    state: text(span, 3),
    name: text(span, 5),
    kind: KINDS[Number(number(span, 6))] ?? '?',
    startMs: Number(number(span, 7) / 1_000n) / 1_000,
    endMs: Number(number(span, 8) / 1_000n) / 1_000,
    attributes: attributesOf(span, 9),
    links: parts(span, 13).map((link) => `${hex(link, 1)}-${hex(link, 2)}`),
    isError: status !== undefined && number(status, 3) === ERROR,
    service,
  }
}

function attributesOf(message: Message, field: number): Record<string, unknown> {
  const pairs = parts(message, field).map((pair) => {
    const [value] = parts(pair, 2)
    return [text(pair, 1), value?.has(1) === true ? text(value, 1) : Number(number(value ?? new Map(), 3))]
  })
  return Object.fromEntries(pairs) as Record<string, unknown>
}

function decode(bytes: Buffer): Message {
  const fields = new Map<number, Array<bigint | Buffer>>()
  let at = 0
  const varint = (): bigint => {
    let value = 0n
    for (let shift = 0n; ; shift += 7n) {
      const byte = bytes[at++] ?? 0
      value |= BigInt(byte & 0x7f) << shift
      if (byte < 0x80) return value
    }
  }
  const take = (length: number): Buffer => bytes.subarray(at, (at += length))
  while (at < bytes.length) {
    const key = Number(varint())
    const wire = key & 7
    const value =
      wire === 0
        ? varint()
        : wire === 1
          ? take(8).readBigUInt64LE()
          : wire === 5
            ? BigInt(take(4).readUInt32LE())
            : take(Number(varint()))
    const field = key >> 3
    fields.set(field, [...(fields.get(field) ?? []), value])
  }
  return fields
}

function parts(message: Message, field: number): Message[] {
  return (message.get(field) ?? []).filter((value) => typeof value !== 'bigint').map(decode)
}

function bytes(message: Message, field: number): Buffer {
  const [value] = message.get(field) ?? []
  return Buffer.isBuffer(value) ? value : Buffer.alloc(0)
}

const hex = (message: Message, field: number): string => bytes(message, field).toString('hex')
const text = (message: Message, field: number): string => bytes(message, field).toString('utf8')

function number(message: Message, field: number): bigint {
  const [value] = message.get(field) ?? []
  return typeof value === 'bigint' ? value : 0n
}
