import { pino } from 'pino'
import type { Logger as PinoLogger } from 'pino'
import type { Logger } from '../ports/runtime.ts'
import { formatLogLine } from './log-line.ts'
import { redactFields, redactText } from './redaction.ts'

export type LogLevel = 'debug' | 'info' | 'warn' | 'error' | 'silent'

export interface LoggerOptions {
  readonly level: LogLevel
  /** `auto`: lines for people on a terminal, JSON everywhere else. */
  readonly format: 'auto' | 'json' | 'text'
  /** Writes a line, which ends with a line feed; to standard output unless given. */
  readonly write?: (line: string) => void
}

/** Whether the log is lines for people. */
export function isTextLog(format: LoggerOptions['format']): boolean {
  return format === 'text' || (format === 'auto' && process.stdout.isTTY)
}

/** The program's log: one JSON object a line (`time`, `level`, `msg`, fields), redacted before it is written. */
export function createLogger(options: LoggerOptions): Logger {
  const asText = isTextLog(options.format)
  const write = options.write ?? ((line: string) => void process.stdout.write(line))
  const destination =
    options.write === undefined && !asText
      ? pino.destination({ dest: 1, sync: true })
      : { write: (line: string) => write(asText ? formatLogLine(line) : line) }
  const root = pino(
    {
      level: options.level,
      base: null,
      timestamp: pino.stdTimeFunctions.isoTime,
      formatters: { level: (label) => ({ level: label }) },
    },
    destination,
  )
  return wrap(root)
}

function wrap(logger: PinoLogger): Logger {
  const log = (level: 'debug' | 'info' | 'warn' | 'error') => {
    return (message: string, fields?: Record<string, unknown>): void => {
      if (!logger.isLevelEnabled(level)) return
      logger[level](fields === undefined ? {} : redactFields(fields), redactText(message))
    }
  }
  return {
    debug: log('debug'),
    info: log('info'),
    warn: log('warn'),
    error: log('error'),
    child: (fields) => wrap(logger.child(redactFields(fields))),
  }
}
