import { cliError, MISUSED } from '../cli-error.ts'

const NAME_MARK = 'name:'

/** How a queue or a cron is named in an argument. */
export const QUEUE_ARGUMENT = ['<queue>', 'its name or id; name:7 is the queue named 7'] as const
export const CRON_ARGUMENT = ['<cron>', 'its name or id; name:7 is the cron named 7'] as const

export type Kind = 'queue' | 'cron'
export type Named = { readonly id: string } | { readonly name: string }

/** The id in `job/16`, as `-o name` prints it, or the text as it is. */
export function plainId(kind: string, text: string): string {
  return text.startsWith(`${kind}/`) ? text.slice(kind.length + 1) : text
}

/** An argument `<id>` that may be given as `-o name` prints it. */
export function idArgument(kind: string): ['<id>', string, (text: string) => string] {
  return ['<id>', `its id, or ${kind}/<id>`, (text) => plainId(kind, text)]
}

/** A whole number is an id, as what `-o name` prints; anything else is a name, and so is what follows `name:`. */
export function namedIn(kind: Kind, text: string): Named {
  const id = plainId(kind, text)
  if (/^[0-9]{1,16}$/.test(id)) return { id }
  const name = text.startsWith(NAME_MARK) ? text.slice(NAME_MARK.length) : text
  if (name === '') throw cliError(`a ${kind} is given by its name or id`, MISUSED)
  return { name }
}

/** What to tell when there is nothing under an id. */
export function unknownIdText(kind: string, id: string): string {
  if (kind !== 'queue' && kind !== 'cron') return `no such ${kind}`
  return `no ${kind} with the id ${id} (one named ${id} is given as ${NAME_MARK}${id})`
}
