import { LinkedList, type Link } from '../../domain/linked-list.ts'

export interface Abortable {
  /** Leaves its group. */
  abort(): void
}

export interface Membership {
  readonly group: LinkedList<Abortable>
  readonly link: Link<Abortable>
}

/** One listener per signal for all the calls that share it: a signal searches its listeners when one is removed. */
export class AbortGroups {
  readonly #groups = new WeakMap<AbortSignal, LinkedList<Abortable>>()

  /** @returns what `leave` takes, once */
  join(signal: AbortSignal, member: Abortable): Membership {
    const group = this.#groups.get(signal) ?? this.#open(signal)
    return { group, link: group.append(member) }
  }

  #open(signal: AbortSignal): LinkedList<Abortable> {
    const group = new LinkedList<Abortable>()
    signal.addEventListener('abort', () => abortAll(group), { once: true })
    this.#groups.set(signal, group)
    return group
  }
}

export function leave({ group, link }: Membership): void {
  group.remove(link)
}

/** Members leave as they are aborted. */
export function abortAll(group: LinkedList<Abortable>): void {
  for (let member = group.first; member !== undefined; member = group.first) member.abort()
}
