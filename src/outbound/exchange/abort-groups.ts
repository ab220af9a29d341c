/** One listener for each signal, however many calls share it: a signal's own listeners are a list that is searched. */
import { LinkedList, type Link } from '../linked-list.ts'

export interface Abortable {
  /** Leaves its group. */
  abort(): void
}

export interface AbortGroups {
  /** What `leave` takes, once. */
  join(signal: AbortSignal, member: Abortable): Membership
}

export interface Membership {
  readonly group: LinkedList<Abortable>
  readonly link: Link<Abortable>
}

export function createAbortGroups(): AbortGroups {
  const groups = new WeakMap<AbortSignal, LinkedList<Abortable>>()
  return {
    join: (signal, member) => {
      let group = groups.get(signal)
      if (group === undefined) {
        const members = new LinkedList<Abortable>()
        signal.addEventListener('abort', () => abortAll(members), { once: true })
        groups.set(signal, members)
        group = members
      }
      return { group, link: group.append(member) }
    },
  }
}

export function leave({ group, link }: Membership): void {
  group.remove(link)
}

/** Every member leaves as it is aborted. */
export function abortAll(group: LinkedList<Abortable>): void {
  for (let member = group.first; member !== undefined; member = group.first) member.abort()
}
