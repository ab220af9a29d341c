import { expect, test } from 'vitest'
import { formatLogLine } from '../../../src/telemetry/log-line.ts'
import { createLogger } from '../../../src/telemetry/logger.ts'
import type { LogLevel } from '../../../src/telemetry/logger.ts'

function capture(level: LogLevel, format: 'json' | 'text') {
  const lines: string[] = []
  return { lines, logger: createLogger({ level, format, write: (line) => void lines.push(line) }) }
}

test('a line is one JSON object with time, level, message and fields', () => {
  const { lines, logger } = capture('info', 'json')
  logger.info('Queue edited', { queue: 'mail', limit: 4 })
  expect(lines).toHaveLength(1)
  expect(lines[0]).toMatch(/\n$/)
  const record = JSON.parse(lines[0]!)
  expect(record).toEqual({ time: record.time, level: 'info', msg: 'Queue edited', queue: 'mail', limit: 4 })
  expect(new Date(record.time).toISOString()).toBe(record.time)
})

test('levels below the chosen one are not written', () => {
  const { lines, logger } = capture('warn', 'json')
  logger.debug('no')
  logger.info('no')
  logger.warn('yes')
  logger.error('yes')
  expect(lines.map((line) => JSON.parse(line).level)).toEqual(['warn', 'error'])
  const silent = capture('silent', 'json')
  silent.logger.error('no')
  expect(silent.lines).toEqual([])
})

test('a child repeats its fields, and nothing secret leaves by field, child or message', () => {
  const { lines, logger } = capture('debug', 'json')
  logger
    .child({ component: 'api', token: 'abc' })
    .error('Cannot reach redis://u:hunter2@host', { url: 'http://t/?key=9', payload: '{"a":1}' })
  const record = JSON.parse(lines[0]!)
  expect(record).toMatchObject({ component: 'api', token: '[redacted]', msg: 'Cannot reach redis://host' })
  expect(lines[0]).not.toMatch(/abc|hunter2|key=9|\{\\"a/)
})

test('on a terminal a line is for people, with the stack below it', () => {
  const { lines, logger } = capture('info', 'text')
  logger.warn('Call failed', { queue: 'my queue', status: 503, error: new Error('reset') })
  expect(lines[0]).toMatch(
    /^\d\d:\d\d:\d\d\.\d{3} WARN {2}Call failed queue="my queue" status=503 error="reset"\n {4}Error: reset\n/,
  )
})

test('a line that is not a JSON object passes unchanged', () => {
  expect(formatLogLine('plain\n')).toBe('plain\n')
  expect(formatLogLine('3\n')).toBe('3\n')
})
