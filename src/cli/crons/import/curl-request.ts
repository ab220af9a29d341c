import { parseArgs } from 'node:util'
import type { GivenRequest } from './request.ts'
import { NotTaken } from './not-taken.ts'

const TEXT = { type: 'string' } as const
const TEXTS = { type: 'string', multiple: true } as const
const FLAG = { type: 'boolean' } as const

/** The options of curl that are understood. All others refuse the CronJob. */
const OPTIONS = {
  request: { ...TEXT, short: 'X' },
  header: { ...TEXTS, short: 'H' },
  data: { ...TEXTS, short: 'd' },
  'data-raw': TEXTS,
  'data-ascii': TEXTS,
  'data-binary': TEXTS,
  'data-urlencode': TEXTS,
  json: TEXTS,
  get: { ...FLAG, short: 'G' },
  url: TEXTS,
  user: { ...TEXT, short: 'u' },
  'oauth2-bearer': TEXT,
  'user-agent': { ...TEXT, short: 'A' },
  referer: { ...TEXT, short: 'e' },
  cookie: { ...TEXT, short: 'b' },
  'max-time': { ...TEXT, short: 'm' },
  retry: TEXT,
  fail: { ...FLAG, short: 'f' },
  'fail-with-body': FLAG,
  insecure: { ...FLAG, short: 'k' },
  location: { ...FLAG, short: 'L' },
  'max-redirs': TEXT,
  'connect-timeout': TEXT,
  'retry-delay': TEXT,
  'retry-max-time': TEXT,
  'retry-connrefused': FLAG,
  'retry-all-errors': FLAG,
  silent: { ...FLAG, short: 's' },
  'show-error': { ...FLAG, short: 'S' },
  'no-progress-meter': FLAG,
  'progress-bar': { ...FLAG, short: '#' },
  verbose: { ...FLAG, short: 'v' },
  include: { ...FLAG, short: 'i' },
  compressed: FLAG,
  output: { ...TEXT, short: 'o' },
  'write-out': { ...TEXT, short: 'w' },
  'no-buffer': { ...FLAG, short: 'N' },
  'http1.1': FLAG,
  http2: FLAG,
  ipv4: { ...FLAG, short: '4' },
  ipv6: { ...FLAG, short: '6' },
} as const
const FORM = 'application/x-www-form-urlencoded'

type Values = ReturnType<typeof parsed>['values']

/** @param words those behind `curl` */
export function requestOfCurl(words: readonly string[]): GivenRequest {
  const { values, positionals } = parsed(words)
  const [url, ...others] = [...(values.url ?? []), ...positionals]
  if (url === undefined) throw new NotTaken('its curl has no URL')
  if (others.length > 0) throw new NotTaken(`its curl has more than one URL: ${url} and ${others.join(' ')}`)
  const body = bodyOf(values)
  const isInUrl = values.get === true
  return {
    url: isInUrl && body !== null ? `${url}${url.includes('?') ? '&' : '?'}${body}` : url,
    method: values.request ?? null,
    headers: headersOf(values, isInUrl ? null : body),
    body: isInUrl ? null : body,
    login: values.user ?? null,
    timeoutSeconds: secondsOf('--max-time', values['max-time']),
    retries: secondsOf('--retry', values.retry),
    notes: notesOf(values),
  }
}

function parsed(words: readonly string[]) {
  try {
    return parseArgs({ args: [...words], options: OPTIONS, allowPositionals: true, strict: true })
  } catch (fault) {
    const [first = ''] = (fault instanceof Error ? fault.message : String(fault)).split('. ')
    throw new NotTaken(`its curl has an option that no cron has: ${first}`)
  }
}

function bodyOf(values: Values): string | null {
  const texts = [
    ...(values.data ?? []),
    ...(values['data-ascii'] ?? []),
    ...(values['data-binary'] ?? []),
    ...(values.json ?? []),
  ]
  const file = texts.find((text) => text.startsWith('@'))
  if (file !== undefined) throw new NotTaken(`its body is the file ${file.slice(1)} of its image`)
  const encoded = (values['data-urlencode'] ?? []).map(urlEncoded)
  const parts = [...texts, ...(values['data-raw'] ?? []), ...encoded]
  if (parts.length === 0) return null
  return parts.join(values.json === undefined ? '&' : '')
}

/** `name=text`, `=text` or `text`; of a file, nothing is known here. */
function urlEncoded(given: string): string {
  const [, name = '', separator = '', text = ''] = /^([^=@]*)([=@]?)(.*)$/s.exec(given) ?? []
  if (separator === '@') throw new NotTaken(`its body is the file ${text} of its image`)
  if (separator === '') return encodeURIComponent(name)
  return name === '' ? encodeURIComponent(text) : `${name}=${encodeURIComponent(text)}`
}

function headersOf(values: Values, body: string | null): (readonly [string, string])[] {
  const headers = (values.header ?? []).flatMap(headerOf)
  const names = new Set(headers.map(([name]) => name.toLowerCase()))
  const more = [
    ['User-Agent', values['user-agent']],
    ['Referer', values.referer],
    ['Cookie', cookieOf(values.cookie)],
    [
      'Authorization',
      values['oauth2-bearer'] === undefined ? undefined : `Bearer ${values['oauth2-bearer']}`,
    ],
    ['Content-Type', body === null ? undefined : values.json === undefined ? FORM : 'application/json'],
    ['Accept', values.json === undefined ? undefined : 'application/json'],
  ] as const
  for (const [name, value] of more) {
    if (value !== undefined && !names.has(name.toLowerCase())) headers.push([name, value])
  }
  return headers
}

/** `Name: value`; one without a value removes a header that curl would send by itself. */
function headerOf(given: string): (readonly [string, string])[] {
  if (given.startsWith('@')) throw new NotTaken(`its headers are in the file ${given.slice(1)} of its image`)
  const [, name = '', value = ''] = /^([^:;]+)[:;]\s*(.*)$/s.exec(given) ?? []
  if (name === '') throw new NotTaken(`its curl has the header "${given}", which has no name`)
  return value === '' ? [] : [[name.trim(), value.trim()]]
}

function cookieOf(given: string | undefined): string | undefined {
  if (given === undefined || given.includes('=')) return given
  throw new NotTaken(`its cookies are in the file ${given} of its image`)
}

/** A number of seconds or times, rounded up. */
function secondsOf(option: string, given: string | undefined): number | null {
  if (given === undefined) return null
  const number = Math.ceil(Number(given))
  if (Number.isFinite(number) && number >= 0) return number
  throw new NotTaken(`its curl has ${option} ${given}, which is no number`)
}

function notesOf(values: Values): string[] {
  const notes: string[] = []
  if (values.fail !== true && values['fail-with-body'] !== true) {
    notes.push('An answer other than 2xx fails the run from now on; curl without --fail took any.')
  }
  if (values.location === true) notes.push('A redirect is not followed: name the address it leads to.')
  if (values.insecure === true)
    notes.push('The certificate of the target is checked, which --insecure left out.')
  if (values.output !== undefined && values.output !== '/dev/null') {
    notes.push(`The answer is kept with the run, not in the file ${values.output}.`)
  }
  return notes
}
