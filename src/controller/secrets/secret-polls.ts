import type { ObjectKey } from '../../ports/kubernetes.ts'
import { parseKey } from '../../resources/queue-owner.ts'

/** Secrets are polled, because watching them would need the right to list every Secret. */
export const SECRET_POLL_MS = 30_000
/** This many Secrets may be read in that time, which is ten per second. */
export const SECRET_READS_MAX = 300

/**
 * Decides how often the Secrets of all resources of a controller are read again. Each namespace has its share of the
 * reads, and what some do not need of theirs is for the others, so one with many Secrets delays only its own. Owns how
 * many Secrets each resource and each namespace names.
 */
export class SecretPolls {
  readonly #ofResource = new Map<string, number>()
  readonly #ofNamespace = new Map<string, number>()
  /** How many reads a namespace gets that needs more; null = not known since the last change. */
  #share: number | null = null

  /**
   * @param resource kind and key
   * @param secrets how many Secrets it names, each counted once
   * @returns when it is to be reconciled again; null = its Secrets do not require it
   */
  note(resource: { readonly kind: string; readonly key: ObjectKey }, secrets: number): number | null {
    const { team: namespace } = parseKey(resource.key)
    const id = `${resource.kind} ${resource.key}`
    const more = secrets - (this.#ofResource.get(id) ?? 0)
    const all = (this.#ofNamespace.get(namespace) ?? 0) + more
    if (more !== 0) {
      put(this.#ofResource, id, secrets)
      put(this.#ofNamespace, namespace, all)
      this.#share = null
    }
    if (secrets === 0) return null
    this.#share ??= shareOf([...this.#ofNamespace.values()])
    return Math.max(SECRET_POLL_MS, Math.ceil((SECRET_POLL_MS * all) / this.#share))
  }
}

function put(counts: Map<string, number>, key: string, count: number): void {
  if (count > 0) counts.set(key, count)
  else counts.delete(key)
}

/** Infinity = every namespace gets what it needs. */
function shareOf(needs: readonly number[]): number {
  let left = SECRET_READS_MAX
  for (const [at, need] of needs.toSorted((a, b) => a - b).entries()) {
    const share = left / (needs.length - at)
    if (need > share) return share
    left -= need
  }
  return Infinity
}
