import { CommanderError } from 'commander'
import { type ApiConnection, connectApi } from './api-connection.ts'
import { cliError } from './cli-error.ts'
import type { ConnectionFlags, OutputFlags } from './command-options.ts'
import type { OutputStream } from './output-stream.ts'
import { printable } from './text-table.ts'

export interface CommandOptions {
  /** Used without `--server`, such as `http://127.0.0.1:8080`. */
  readonly serverDefault: string
  /** Used without `--token`. */
  readonly tokenDefault: string | null
  readonly stdout: OutputStream
  readonly stderr: OutputStream
}

/** Writes an answer for people; its parameter is the wire type of that answer. */
type Format = (body: never) => string

/** Runs commands against the API and prints their answers. */
export class CommandRunner {
  readonly #options: CommandOptions

  constructor(options: CommandOptions) {
    this.#options = options
  }

  /** Connects and runs a command. An error is printed as one line and rethrown as a CommanderError. */
  async run(flags: ConnectionFlags, command: (api: ApiConnection) => Promise<void>): Promise<void> {
    const { serverDefault, tokenDefault, stderr } = this.#options
    try {
      await command(connectApi(flags.server ?? serverDefault, flags.token ?? tokenDefault))
    } catch (fault) {
      if (fault instanceof CommanderError) stderr.write(printable(`punctual: ${fault.message}\n`))
      throw fault
    }
  }

  /** Runs a command of one request and prints its answer. */
  request(flags: OutputFlags, send: (api: ApiConnection) => Promise<string>, format: Format): Promise<void> {
    return this.run(flags, async (api) => this.print(flags, await send(api), format))
  }

  /** Prints an answer: as it came with `--output json`, else formatted. */
  print({ output }: OutputFlags, text: string, format: Format): void {
    const shown = output === 'json' ? `${text}\n` : readAnswer(text, format)
    this.say(shown)
  }

  say(text: string): void {
    this.#options.stdout.write(text)
  }
}

/** What `read` takes from an answer; an answer without it is not from Punctual. */
export function readAnswer<Taken>(text: string, read: (body: never) => Taken): Taken {
  try {
    return read(JSON.parse(text) as never)
  } catch {
    throw cliError('the answer is not from Punctual')
  }
}
