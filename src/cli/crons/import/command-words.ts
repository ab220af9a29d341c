import { createRequire } from 'node:module'
import type * as ShellQuote from 'shell-quote'
import type { Container } from './cron-job.ts'
import { NotTaken } from './not-taken.ts'
import { markOf } from './secret-marks.ts'

/** Loaded when it is first used, as every library that one command alone needs. */
const require = createRequire(import.meta.url)

const SHELLS: ReadonlySet<string> = new Set(['sh', 'bash', 'ash', 'dash'])
/** Such as `-c`, `-ec` and `-euxc`. */
const SHELL_FLAGS = /^-[a-z]*c$/
/** `$(NAME)`, as Kubernetes puts variables into commands; `$$(NAME)` stands for itself. */
const REFERENCE = /\$\$|\$\(([-._a-zA-Z][-._a-zA-Z0-9]*)\)/g
/** What may follow the command of a script. */
const QUIET = [
  ['>', '/dev/null'],
  ['&>', '/dev/null'],
  ['>&', '1'],
  ['>&', '2'],
  ['||', 'exit', '1'],
] as const
const NOT_SIMPLE = 'its script does more than send one request'

/** A word, or an operator between words. */
type Entry = string | { readonly op: string }

type Variables = ReadonlyMap<string, string>

/** The words of the program that a container runs, variables put in, and those of a shell script taken apart. */
export function wordsOf(container: Container): readonly string[] {
  const variables = variablesOf(container)
  const put = (text: string): string =>
    text.replaceAll(REFERENCE, (whole, name?: string) => {
      if (name === undefined) return '$'
      return variables.get(name) ?? whole
    })
  const command = (container.command ?? []).map(put)
  const words = [...command, ...(container.args ?? []).map(put)]
  const [shell = '', flags = '', script] = words
  if (SHELLS.has(programIn(shell)) && SHELL_FLAGS.test(flags) && script !== undefined) {
    return wordsOfScript(script, variables)
  }
  // An image of curl runs it by itself.
  const image = /([^/:@]+)(?:[:@][^/]*)?$/.exec(container.image ?? '')?.[1] ?? ''
  return command.length === 0 && image.includes('curl') ? ['curl', ...words] : words
}

/** `curl` of `/usr/bin/curl`. */
export function programIn(word: string): string {
  return word.slice(word.lastIndexOf('/') + 1)
}

function variablesOf({ env = [] }: Container): Variables {
  const variables = new Map<string, string>()
  for (const { name, value = '', valueFrom } of env) {
    const secret = valueFrom?.secretKeyRef
    if (secret !== undefined) variables.set(name, markOf(secret))
    else if (valueFrom === undefined) variables.set(name, value)
  }
  return variables
}

/** The words of the only command of a script. Of two commands the second comes as words of the first, which refuses them. */
function wordsOfScript(script: string, variables: Variables): readonly string[] {
  const { parse } = require('shell-quote') as typeof ShellQuote
  const valueOf = (name: string): string => {
    const value = variables.get(name)
    if (value !== undefined) return value
    throw new NotTaken(name === '' ? NOT_SIMPLE : `the value of $${name} is not in the CronJob`)
  }
  const lines = script.replaceAll(/\\\r?\n/g, ' ').split('\n')
  const command = lines.filter((line) => !/^\s*(?:#|set [-+])/.test(line)).join('\n')
  // What a backtick runs is not computed here, as little as $(…), whose variable has no name.
  if (command.includes('`')) throw new NotTaken(NOT_SIMPLE)
  const [first, ...words] = withoutQuiet(parse(command.trim(), valueOf).flatMap(entriesOf))
  return first === 'exec' ? words : [first ?? '', ...words]
}

function entriesOf(entry: ShellQuote.ParseEntry): Entry[] {
  if (typeof entry === 'string') return [entry]
  if ('comment' in entry) {
    if (entry.comment.includes('\n')) throw new NotTaken(NOT_SIMPLE)
    return []
  }
  // A URL with a ? is a pattern to a shell, which finds no such file and leaves it.
  return [entry.op === 'glob' ? entry.pattern : { op: entry.op }]
}

/** Drops what sends the output nowhere, and what ends a script that has failed. */
function withoutQuiet(entries: readonly Entry[]): string[] {
  const words: string[] = []
  for (let at = 0; at < entries.length; at += 1) {
    const entry = entries[at] ?? ''
    if (typeof entry === 'string') {
      words.push(entry)
      continue
    }
    const quiet = QUIET.find(
      ([op, ...rest]) => op === entry.op && rest.every((word, i) => word === entries[at + 1 + i]),
    )
    if (quiet === undefined) throw new NotTaken(NOT_SIMPLE)
    // The number of the stream stands before.
    if (entry.op.startsWith('>') && /^[12]$/.test(words.at(-1) ?? '')) words.pop()
    at += quiet.length - 1
  }
  return words
}
