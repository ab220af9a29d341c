import type { WindowResource } from './maintenance-window.ts'

/** A resource that a window holds, and until when. */
export interface HeldResource {
  readonly team: string
  /** null = all queues and crons of the team. */
  readonly resource: WindowResource | null
  /** It lasts at least up to this time, Unix ms: the latest end of the openings that hold the resource now. */
  readonly untilMs: number
}

/** Resources held at one time, found by name. */
class HeldResources {
  readonly #untilMs = new Map<string, number>()

  constructor(holds: readonly HeldResource[]) {
    for (const { team, resource, untilMs } of holds) {
      const key = keyOf(team, resource)
      this.#untilMs.set(key, Math.max(untilMs, this.#untilMs.get(key) ?? 0))
    }
  }

  get isEmpty(): boolean {
    return this.#untilMs.size === 0
  }

  /** End of the last hold of the queue or cron, or of its team; null = it is not held. */
  untilOf(team: string, resource: WindowResource | null): number | null {
    const ofTeam = this.#untilMs.get(keyOf(team, null)) ?? null
    const own = resource === null ? null : (this.#untilMs.get(keyOf(team, resource)) ?? null)
    return ofTeam === null || own === null ? (ofTeam ?? own) : Math.max(ofTeam, own)
  }
}

const indexes = new WeakMap<readonly HeldResource[], HeldResources>()

/** The index of a list of holds, made once for each list. */
export function heldResources(holds: readonly HeldResource[]): HeldResources {
  let index = indexes.get(holds)
  if (index === undefined) {
    index = new HeldResources(holds)
    indexes.set(holds, index)
  }
  return index
}

/** A team is a DNS label and holds no slash. */
function keyOf(team: string, resource: WindowResource | null): string {
  return resource === null ? team : `${team}/${resource.kind}/${resource.name}`
}
