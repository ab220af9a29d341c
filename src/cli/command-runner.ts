import { CommanderError } from 'commander'
import type { OutputFormat, ReceivedAnswer } from './output/answer-text.ts'
import { answerText } from './output/answer-text.ts'
import type { OutputStream } from './output/output-stream.ts'
import { ProgressBar } from './output/progress-bar.ts'
import { printable } from './output/text-table.ts'
import type { View } from './output/view.ts'
import { cliError } from './cli-error.ts'
import { type ConnectionFlags, type DestroyFlags, type OutputFlags, watchSeconds } from './command-options.ts'
import { type Ask, confirm } from './confirmation.ts'
import { type BearerOf, openCluster, TEAM_HEADER } from './cluster/cluster-target.ts'
import { FAILURES_MAX, isPassing } from './connection/awaited.ts'
import { type Api, type ApiTarget, connectApi, DryRunEnd, dryRunOf } from './connection/api.ts'
import { findApi, type FindLocal } from './connection/local-api.ts'

/** Clears a terminal and what it scrolled away. */
const CLEAR = '\u001b[2J\u001b[3J\u001b[H'

export interface CommandOptions {
  /** Of the variable; used without `--server`. null = it is not set. */
  readonly serverGiven: string | null
  /** Used when no address is given and no standalone is found, such as `http://127.0.0.1:8080`. */
  readonly serverDefault: string
  /** Used without `--token`. */
  readonly tokenDefault: string | null
  /** Finds the standalone whose address and token are used when none are given. */
  readonly findLocal: FindLocal
  /** Of the program, for `User-Agent`. */
  readonly version: string
  readonly stdout: OutputStream
  readonly stderr: OutputStream
  readonly sleep: (milliseconds: number) => Promise<void>
  /** Puts a question to the person at the terminal, and answers the line they type; null = there is no terminal. */
  readonly ask: Ask | null
  /** Of `kubectl punctual`, which finds the API in the cluster unless `--server` is given. */
  readonly bearerOf?: BearerOf | undefined
}

/** Such as `{ name: 'cron/7', said: 'cron 7 deleted' }`. */
interface Done {
  readonly name: string
  readonly said: string
}

type Send<Body> = (api: Api) => Promise<ReceivedAnswer<Body>>

/** Runs commands against the API and prints their answers. */
export class CommandRunner {
  readonly #options: CommandOptions

  constructor(options: CommandOptions) {
    this.#options = options
  }

  /**
   * Connects and runs a command. An error is printed as one line and rethrown as a CommanderError. With `--dry-run` the
   * command ends at its first request that would change something.
   */
  run(flags: ConnectionFlags, command: (api: Api) => Promise<void>): Promise<void> {
    return this.local(async () => {
      const target = await this.#targetOf(flags)
      try {
        const api = connectApi(target)
        const isDry = 'dryRun' in flags && flags.dryRun === true
        await command(isDry ? dryRunOf(api, (text) => this.say(printable(text))) : api)
      } finally {
        await target.close()
      }
    })
  }

  async #targetOf(flags: ConnectionFlags): Promise<ApiTarget & { close(): Promise<void> }> {
    const { serverGiven, serverDefault, tokenDefault, findLocal, version, bearerOf = null } = this.#options
    const named = { 'user-agent': `punctual-cli/${version}` }
    const token = flags.token ?? tokenDefault
    if (bearerOf === null || flags.server !== undefined) {
      const team = flags.namespace === undefined ? {} : { [TEAM_HEADER]: flags.namespace }
      const given = { server: flags.server ?? serverGiven, token }
      const found = await findApi(given, serverDefault, findLocal)
      return { ...found, headers: { ...named, ...team }, close: async () => undefined }
    }
    const target = await openCluster(flags, token, bearerOf)
    return { ...target, headers: { ...named, ...target.headers } }
  }

  /** Runs a command that needs no API; errors as of `run`. */
  async local(command: () => Promise<void> | void): Promise<void> {
    const { stderr } = this.#options
    try {
      await command()
    } catch (fault) {
      if (fault instanceof DryRunEnd) return
      if (fault instanceof CommanderError) stderr.write(printable(`punctual: ${fault.message}\n`))
      throw fault
    }
  }

  /** Runs a command of one request and prints its answer; with `--watch` again and again. */
  request<Body>(flags: OutputFlags, send: Send<Body>, view: View<NoInfer<Body>>): Promise<void> {
    return this.run(flags, async (api) => {
      if (flags.watch === undefined) this.print(flags, await send(api), view)
      else await this.#watch(flags, () => send(api), view)
    })
  }

  /**
   * Has the person at the terminal confirm what cannot be undone, unless `--yes` does or nothing is sent anyway.
   * @param question such as `Delete cron 7 Nightly?`
   */
  confirm(flags: DestroyFlags, question: () => string | Promise<string>): Promise<void> {
    return confirm(flags, { ask: this.#options.ask, question })
  }

  /** Says what was done where the answer says nothing. */
  report({ output }: OutputFlags, done: Done): void {
    if (output === 'name') this.say(printable(`${done.name}\n`))
    else if (output === 'table' || output === 'wide') this.say(printable(`${done.said}\n`))
  }

  print<Body>({ output }: OutputFlags, answer: ReceivedAnswer<Body>, view: View<NoInfer<Body>>): void {
    this.say(this.#textOf(output, answer, view))
    this.#tellEmpty(output, answer, view)
  }

  #textOf<Body>(format: OutputFormat, answer: ReceivedAnswer<Body>, view: View<Body>): string {
    const { width = null } = this.#options.stdout
    return readAnswer(() => answerText(answer, { format, width }, view))
  }

  /** On standard error, so that a script that counts lines counts none. */
  #tellEmpty<Body>(output: OutputFlags['output'], { body }: ReceivedAnswer<Body>, view: View<Body>): void {
    const text = output === 'table' || output === 'wide' ? view.emptyText?.(body) : null
    if (typeof text === 'string') this.warn(`${text}\n`)
  }

  say(text: string): void {
    this.#options.stdout.write(text)
  }

  /** Tells an error that does not end the command, as a line of its own. */
  warn(text: string): void {
    this.#options.stderr.write(text)
  }

  /** For work that takes long; `end()` it before anything else is printed. */
  progressBar(): ProgressBar {
    return new ProgressBar(this.#options.stderr, () => performance.now())
  }

  /** Prints the answer whenever it has changed: on a terminal in place of the one before. */
  async #watch<Body>(
    flags: OutputFlags,
    look: () => Promise<ReceivedAnswer<Body>>,
    view: View<Body>,
  ): Promise<void> {
    const { stdout, sleep } = this.#options
    const pauseMs = watchSeconds(flags) * 1000
    let shown: string | null = null
    for (let failures = 0; ;) {
      try {
        const answer = await look()
        failures = 0
        const text = this.#textOf(flags.output, answer, view)
        if (text !== shown) {
          this.say(stdout.isTerminal === true ? `${CLEAR}${text}` : text)
          this.#tellEmpty(flags.output, answer, view)
        }
        shown = text
      } catch (fault) {
        failures += 1
        if (!isPassing(fault) || shown === null || failures > FAILURES_MAX) throw fault
      }
      await sleep(pauseMs)
    }
  }
}

/** What `read` takes from an answer; an answer without it is not from Punctual. */
export function readAnswer<Taken>(read: () => Taken): Taken {
  try {
    return read()
  } catch {
    throw cliError('the answer is not from Punctual')
  }
}
