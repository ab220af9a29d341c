import { cliError, MISUSED } from '../cli-error.ts'

const NAME_MARK = 'name:'

/** The argument that names a queue or a cron, and its help. */
export const QUEUE_ARGUMENT = ['<queue>', 'its name or id; name:7 is the queue named 7'] as const
export const CRON_ARGUMENT = ['<cron>', 'its name or id; name:7 is the cron named 7'] as const

export type Kind = 'queue' | 'cron'
export type Named = { readonly id: string } | { readonly name: string }

/** Takes the id out of `job/16`, which `-o name` prints, and any other text as it is. */
export function plainId(kind: string, text: string): string {
  return text.startsWith(`${kind}/`) ? text.slice(kind.length + 1) : text
}

/** Makes an argument `<id>` that also takes what `-o name` prints. */
export function idArgument(kind: string): ['<id>', string, (text: string) => string] {
  return ['<id>', `its id, or ${kind}/<id>`, (text) => plainId(kind, text)]
}

/**
 * Takes a whole number, and what `-o name` prints, for an id. Anything else is a name, and so is all that follows
 * `name:`.
 */
export function namedIn(kind: Kind, text: string): Named {
  const id = plainId(kind, text)
  if (/^[0-9]{1,16}$/.test(id)) return { id }
  const name = text.startsWith(NAME_MARK) ? text.slice(NAME_MARK.length) : text
  if (name === '') throw cliError(`a ${kind} is given by its name or id`, MISUSED)
  return { name }
}

/** Explains that there is nothing under an id. */
export function unknownIdText(kind: string, id: string): string {
  if (kind !== 'queue' && kind !== 'cron') return `no such ${kind}`
  return `no ${kind} with the id ${id} (one named ${id} is given as ${NAME_MARK}${id})`
}
