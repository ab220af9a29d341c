import type { Command } from 'commander'
import {
  type Answers,
  type Inputs,
  JsonText,
  type OperationName,
} from '../../clients/typescript/src/client.ts'
import { cliError, MISUSED } from './cli-error.ts'
import {
  changing,
  type DestroyFlags,
  destroying,
  limitOf,
  listCommand,
  type OutputFlags,
  paged,
  type PageFlags,
  watched,
} from './command-options.ts'
import type { CommandRunner } from './command-runner.ts'
import type { Api } from './connection/api.ts'
import { idArgument } from './connection/given-ids.ts'
import { keyOf } from './connection/header-text.ts'
import { editVersion, withVersion } from './connection/versioned-edit.ts'
import { type DataFlags, withData } from './given-data.ts'
import type { Stdin } from './given-source.ts'
import type { ReceivedAnswer } from './output/answer-text.ts'
import { type View, withVersionLine } from './output/view.ts'

/** How commands name one of a kind. */
interface Named {
  /** The singular, such as `cron`: it is printed before an id, and the API names its parameter `cron_id`. */
  readonly noun: string
  /** The argument by which a command names one (default: the id). */
  readonly argument?: readonly [name: string, does: string, parse?: (text: string) => string]
  /** Finds the id of what an argument names (default: the argument is the id). */
  readonly idOf?: (api: Api, text: string) => Promise<string>
}

/** Something that the API keeps many of, and the commands for it. */
export interface Kind extends Named {
  /** The group of its commands, such as `crons`. */
  readonly group: string
  readonly does: string
  /** The help lists them in this order. */
  readonly verbs: readonly Verb[]
}

export interface CommandTools {
  readonly runner: CommandRunner
  readonly stdin: Stdin
  readonly sleep: (milliseconds: number) => Promise<void>
  readonly nowMs: () => number
}

/** Adds one command to a group: a common one, made by the functions below, or one that only this kind has. */
export type Verb = (group: Command, named: Named, tools: CommandTools) => void

export function registerKind(program: Command, kind: Kind, tools: CommandTools): void {
  const group = program.command(kind.group).description(kind.does)
  for (const add of kind.verbs) add(group, kind, tools)
}

/** The operations that answer with a body. */
type Answering = {
  [Name in OperationName]: Answers[Name] extends object ? Name : never
}[OperationName]

interface Shown<Name extends Answering> {
  readonly does: string
  readonly view: View<Answers[Name]>
  /** The name of the command, where it differs from the function that adds it. */
  readonly verb?: string
}

interface Listed<Name extends Answering, Flags> extends Shown<Name> {
  /** Whether the list comes whole, without pages. */
  readonly isWhole?: boolean
  readonly filters?: {
    add(command: Command): Command
    of(api: Api, flags: Flags, nowMs: number): Promise<object>
  }
}

/** Adds `list`, which runs when a group is given no verb, or under another verb the list of what one of the kind has. */
export function list<Name extends Answering, Flags extends PageFlags>(
  operation: Name,
  { verb, does, view, isWhole = false, filters }: Listed<Name, Flags>,
): Verb {
  return (group, named, { runner, nowMs }) => {
    const place = verb === undefined ? listCommand(group) : commandOfOne(group, verb, named)
    const command = (isWhole ? watched : paged)(place).description(does)
    filters?.add(command)
    command.action(() => {
      const flags = command.opts<Flags>()
      const [owner] = command.processedArgs as [string?]
      const send = async (api: Api) => {
        const page = { limit: limitOf(flags), cursor: flags.cursor }
        const of = owner === undefined ? {} : inputOf(named, await idOf(named, api, owner))
        return api.send(operation, {
          ...of,
          ...(await filters?.of(api, flags, nowMs())),
          ...page,
        } as Inputs[Name])
      }
      return runner.request(flags, send, view)
    })
  }
}

/** Adds `show`, which prints the version where `edit` can ask for one. */
export function show<Name extends Answering>(
  operation: Name,
  { verb = 'show', does, view, isVersioned = false }: Shown<Name> & { readonly isVersioned?: boolean },
): Verb {
  return (group, named, { runner }) => {
    const command = watched(commandOfOne(group, verb, named)).description(does)
    command.action((text: string, flags: OutputFlags) => {
      const read = async (api: Api) =>
        api.send(operation, inputOf(named, await idOf(named, api, text)) as Inputs[Name])
      if (!isVersioned) return runner.request(flags, read, view)
      return runner.request(flags, async (api) => withVersion(await read(api)), withVersionLine(view))
    })
  }
}

/** A body is made from these. */
export interface Given<Flags> {
  readonly flags: Flags
  /** The arguments, as given on the command line. */
  readonly args: readonly (string | undefined)[]
  readonly api: Api
  readonly stdin: Stdin
  readonly nowMs: () => number
}

interface ChangeFlags extends DestroyFlags, DataFlags {
  readonly ifMatch?: string
  readonly idempotencyKey?: string
}

interface Change<Name extends Answering, Flags> extends Shown<Name> {
  readonly options?: (command: Command) => Command
  /** Makes the body, to which `--data` adds fields. Without it, or if it returns null, the request has no body. */
  readonly fields?: (given: Given<Flags>) => object | null | Promise<object>
  /** What is asked before it cannot be undone. */
  readonly question?: Question
}

/** Names what would be destroyed and how much, such as `Delete cron 7 Nightly?`. */
type Question = (api: Api, id: string) => Promise<string>

/** @param args such as `<name>` */
export function create<Name extends Answering, Flags extends ChangeFlags>(
  operation: Name,
  { args = '', ...change }: Change<Name, Flags> & { readonly args?: string },
): Verb {
  return (group, _named, tools) =>
    addChange(group.command(`create ${args}`), tools, change, ({ api, flags }, body) => {
      const key = keyOf(flags.idempotencyKey)
      return api.send(operation, { body, idempotency_key: key } as unknown as Inputs[Name])
    })
}

/** Adds `edit`, which changes the version that was read and no other. */
export function edit<Name extends Answering, Flags extends ChangeFlags>(
  operation: Name,
  { read, options, ...change }: Change<Name, Flags> & { readonly read: Answering },
): Verb {
  return (group, named, tools) => {
    const name = group.name()
    const versioned = (command: Command): Command => {
      const does = `only this version, as ${name} show -o wide prints it, quotes included`
      const own = command.option('--if-match <version>', does)
      return options?.(own) ?? own
    }
    const edited = { ...change, options: versioned }
    addChange(commandOfOne(group, 'edit', named), tools, edited, async ({ api, args, flags }, body) => {
      const text = body?.text ?? '{}'
      if (text === '{}') {
        throw cliError(`no change given (see punctual ${name} edit --help)`, MISUSED)
      }
      const id = await idOf(named, api, args[0])
      return editVersion({
        what: `${named.noun} ${id}`,
        text,
        ifMatch: flags.ifMatch,
        read: () => api.send(read, inputOf(named, id) as Inputs[Answering]),
        send: (call) => api.send(operation, inputOf(named, id, body) as Inputs[Name], call),
      })
    })
  }
}

/** Adds a verb that acts on one of the kind and prints the result. */
export function act<Name extends Answering, Flags extends ChangeFlags>(
  verb: string,
  operation: Name,
  change: Change<Name, Flags>,
): Verb {
  return (group, named, tools) =>
    addChange(commandOfOne(group, verb, named), tools, change, async ({ api, args, flags }, body) => {
      const id = await idOf(named, api, args[0])
      const { question } = change
      if (question !== undefined) await tools.runner.confirm(flags, () => question(api, id))
      return api.send(operation, inputOf(named, id, body) as Inputs[Name])
    })
}

interface Removal {
  readonly does: string
  readonly verb?: string
  readonly said?: string
  /** Asked first; the verb, the noun and the id unless given. */
  readonly question?: Question
}

/** Adds `delete`, or a verb like it: the API answers it without a body. */
export function remove(
  operation: OperationName,
  { does, verb = 'delete', said = 'deleted', question }: Removal,
): Verb {
  return (group, named, { runner }) => {
    const command = destroying(commandOfOne(group, verb, named)).description(does)
    command.action((text: string, flags: DestroyFlags) =>
      runner.run(flags, async (api) => {
        const { noun } = named
        const id = await idOf(named, api, text)
        const what = `${noun.replaceAll('-', ' ')} ${id}`
        await runner.confirm(flags, () => question?.(api, id) ?? `${capitalized(verb)} ${what}?`)
        await api.send(operation, inputOf(named, id))
        runner.report(flags, { name: `${noun}/${id}`, said: `${what} ${said}` })
      }),
    )
  }
}

function addChange<Name extends Answering, Flags extends ChangeFlags>(
  place: Command,
  { runner, stdin, nowMs }: CommandTools,
  { does, options, fields, view, question }: Change<Name, Flags>,
  send: (given: Given<Flags>, body: JsonText | undefined) => Promise<ReceivedAnswer<Answers[Name]>>,
): void {
  const command = (question === undefined ? changing : destroying)(place).description(does)
  options?.(command)
  command.action(() => {
    const flags = command.opts<Flags>()
    const make = async (api: Api) => {
      const given = { flags, args: command.processedArgs as string[], api, stdin, nowMs }
      const found = (await fields?.(given)) ?? null
      if (found === null) return send(given, undefined)
      return send(given, new JsonText(await withData(flags.data, JSON.stringify(found), stdin)))
    }
    return runner.request(flags, make, view)
  })
}

function capitalized(text: string): string {
  return `${text.charAt(0).toUpperCase()}${text.slice(1)}`
}

function commandOfOne(group: Command, verb: string, { noun, argument = idArgument(noun) }: Named): Command {
  return group.command(verb).argument(...argument)
}

async function idOf(named: Named, api: Api, text = ''): Promise<string> {
  return named.idOf?.(api, text) ?? text
}

/** Makes the input of any operation: the API names the id after the noun. */
function inputOf({ noun }: Named, id: string, body?: JsonText): object {
  return { [`${noun.replaceAll('-', '_')}_id`]: id, body }
}
