import { reasonOf, StoreUnavailableError } from '../../domain/errors.ts'
import { pause } from '../../domain/pause.ts'
import { CLUSTER } from '../../ports/access/namespaces.ts'
import type { AuditLog } from '../../ports/access/audit-log.ts'
import type { NamespaceReader } from '../../ports/kubernetes.ts'
import type { Clock, Logger } from '../../ports/runtime.ts'
import type { LeaderSession } from '../engine/leader-session.ts'
import { ORPHANS_FEW, ORPHANS_SHARE } from '../orphans/orphan-sweep.ts'
import { eraseFormer } from './erase-former.ts'

export interface NamespaceKeeperOptions {
  readonly reader: NamespaceReader
  /** Our own namespace, by which the cluster is recognized: while it is the same, so is the cluster. */
  readonly ownNamespace: string
  readonly engine: Pick<LeaderSession, 'write' | 'applied' | 'namespaces'>
  /** Names the namespaces in which there are resources, and which therefore exist. */
  readonly inUse: () => ReadonlySet<string>
  /** Called after an erasure: it may also have removed what was applied for the namespace since. */
  readonly onErased: (namespace: string) => void
  readonly auditLog: AuditLog
  readonly clock: Clock
  readonly logger: Logger
}

export const LOOK_EVERY_MS = 60_000
/** One round reads at most this many namespaces; the others follow in the next. */
export const READS_PER_LOOK_MAX = 200
const EXAMPLES_MAX = 10

/** `passed`: there is no such namespace, it cannot be read, or Redis is away, so that nothing can be said. */
type Answer = 'admitted' | 'passed' | 'erasing'

/**
 * Binds what teams have in Redis to the namespace it belongs to, so that a namespace that was deleted and made anew
 * under its name inherits nothing. Owns the namespaces that were found to be the same, and the removals under way, one
 * at a time.
 *
 * A namespace is
 *
 *     unknown → the same, until a resource comes or goes in it → unknown
 *     unknown → another → being erased → unknown
 *     missing → missing in the next round → erased → forgotten in a later round
 *
 * The next leader begins all of this again.
 */
export class NamespaceKeeper {
  readonly #options: NamespaceKeeperOptions
  readonly #answers = new Map<string, Promise<Answer>>()
  readonly #erasing = new Map<string, Promise<void>>()
  readonly #missing = new Map<string, 'seen' | 'erased'>()
  #last: Promise<void> = Promise.resolve()
  #cluster: Promise<boolean> | null = null
  #isUnreadableLogged = false
  #signal = AbortSignal.abort()
  #offset = 0

  constructor(options: NamespaceKeeperOptions) {
    this.#options = options
  }

  /** Called for each resource that comes or goes, as its namespace may be another one by now. */
  forget(namespace: string): void {
    this.#answers.delete(namespace)
  }

  /**
   * Tells whether what Redis has of the team belongs to the present namespace. If not, its removal begins. Throws
   * ResourceApiError.
   */
  async admit(namespace: string): Promise<boolean> {
    const asked = this.#answers.get(namespace) ?? this.#ask(namespace)
    this.#answers.set(namespace, asked)
    const drop = (): void => {
      if (this.#answers.get(namespace) === asked) this.#answers.delete(namespace)
    }
    try {
      const answer = await asked
      if (answer !== 'admitted') drop()
      return answer !== 'erasing'
    } catch (error) {
      drop()
      // A reconcile says what is wrong and lets go of deleted resources. It can write no more than we could read.
      if (error instanceof StoreUnavailableError) return true
      throw error
    }
  }

  /** Called when Redis is another one, or an older copy of itself. */
  forgetAll(): void {
    this.#answers.clear()
    this.#cluster = null
  }

  /** Seeks namespaces that are gone, until the signal. Resolves when no removal is under way. */
  async run(signal: AbortSignal): Promise<void> {
    const { clock, logger } = this.#options
    this.#signal = signal
    this.#isUnreadableLogged = false
    this.#missing.clear()
    this.forgetAll()
    while (!signal.aborted) {
      await pause(clock, LOOK_EVERY_MS, signal)
      if (signal.aborted) break
      try {
        await this.#look()
      } catch (error) {
        logger.debug('Namespaces could not be looked at', { reason: reasonOf(error) })
      }
    }
    await this.#last
  }

  async #ask(namespace: string): Promise<Answer> {
    const { reader, engine } = this.#options
    if (this.#erasing.has(namespace)) return 'erasing'
    if (!(await this.#isFenced())) return 'passed'
    const found = await reader.read(namespace)
    if (found.kind === 'unreadable') this.#logUnreadable(namespace)
    if (found.kind !== 'found') return 'passed'
    const { uid } = found
    const held = await engine.write((compiler) => compiler.claimNamespace(namespace, uid))
    if (held.uid === uid) return 'admitted'
    this.#erase(namespace, uid)
    return 'erasing'
  }

  /** Tells whether uids can be compared. The first time it checks whether they are those of this cluster. */
  async #isFenced(): Promise<boolean> {
    const asked = (this.#cluster ??= this.#openCluster())
    const isFenced = await asked.catch(() => null)
    if (isFenced !== true && this.#cluster === asked) this.#cluster = null
    return isFenced ?? (await asked)
  }

  async #openCluster(): Promise<boolean> {
    const { reader, ownNamespace, engine, logger } = this.#options
    const own = await reader.read(ownNamespace)
    if (own.kind !== 'found') {
      this.#logUnreadable(ownNamespace)
      return false
    }
    const held = await engine.write((compiler) => compiler.claimNamespace(CLUSTER, own.uid))
    if (held.uid === own.uid) return true
    logger.warn(
      'The cluster or the own namespace is another one: what teams have belongs to the namespaces of their names',
    )
    for (const team of (await engine.namespaces()).keys()) {
      if (team !== CLUSTER) await engine.write((compiler) => compiler.removeNamespace(team))
    }
    // This is written last, so that whoever tries again removes what was not removed yet.
    await engine.write((compiler) => compiler.putNamespace(CLUSTER, own.uid))
    return true
  }

  #logUnreadable(namespace: string): void {
    if (this.#isUnreadableLogged) return
    this.#isUnreadableLogged = true
    this.#options.logger.warn(
      'Namespaces cannot be read: one that is made anew would inherit what a former one of its name has left',
      { namespace },
    )
  }

  async #look(): Promise<void> {
    const { engine, reader, inUse, ownNamespace } = this.#options
    if (!(await this.#isFenced())) return
    const held = await engine.namespaces()
    const used = inUse()
    const unused = [...held.keys()].filter(
      (team) => team !== CLUSTER && team !== ownNamespace && !used.has(team) && !this.#erasing.has(team),
    )
    for (const team of [...this.#missing.keys()]) if (!unused.includes(team)) this.#missing.delete(team)
    const missing: string[] = []
    for (const team of this.#page(unused)) {
      if (this.#signal.aborted) return
      const found = await reader.read(team)
      if (found.kind === 'missing') missing.push(team)
      else this.#missing.delete(team)
      if (found.kind === 'found' && found.uid !== held.get(team)) this.#erase(team, found.uid)
    }
    if (this.#mayBeGone(missing, held.size)) for (const team of missing) await this.#noteMissing(team)
  }

  #page(teams: readonly string[]): readonly string[] {
    const page = teams.slice(this.#offset, this.#offset + READS_PER_LOOK_MAX)
    this.#offset = page.length < READS_PER_LOOK_MAX ? 0 : this.#offset + READS_PER_LOOK_MAX
    return page
  }

  /** Many missing namespaces at once, like many orphans, point to a mistake in the cluster. */
  #mayBeGone(missing: readonly string[], held: number): boolean {
    const left = missing.filter((team) => this.#missing.get(team) !== 'erased')
    const allowed = Math.max(ORPHANS_FEW, Math.floor(held * ORPHANS_SHARE))
    if (left.length <= allowed) return true
    this.#options.logger.error('What belongs to missing namespaces is left alone', {
      count: left.length,
      reason: `they are more than ${allowed}`,
      examples: left.slice(0, EXAMPLES_MAX),
    })
    return false
  }

  /**
   * A namespace is erased in the second round that misses it, and again in the third, when nobody can have pushed for a
   * while. Then it is forgotten.
   */
  async #noteMissing(team: string): Promise<void> {
    const state = this.#missing.get(team)
    if (state === undefined) this.#missing.set(team, 'seen')
    else this.#erase(team, null, state === 'erased')
  }

  /** @param uid that of the namespace with the name now; null = there is none */
  #erase(team: string, uid: string | null, isLast = false): void {
    if (this.#erasing.has(team)) return
    const { logger, engine, onErased } = this.#options
    const erased = this.#last.then(async () => {
      let isErased = false
      try {
        if (this.#signal.aborted || !(await this.#isStill(team, uid))) return
        if (!(await eraseFormer(this.#options, { team, uid }, this.#signal))) return
        // The namespace may have been deleted again meanwhile.
        if (!(await this.#isStill(team, uid))) return
        if (uid !== null) await engine.write((compiler) => compiler.putNamespace(team, uid))
        else if (isLast) await engine.write((compiler) => compiler.removeNamespace(team))
        if (uid === null && !isLast) this.#missing.set(team, 'erased')
        else this.#missing.delete(team)
        isErased = true
      } catch (error) {
        logger.warn('What a former namespace has left could not be removed; trying again', {
          namespace: team,
          reason: reasonOf(error),
        })
      } finally {
        this.#erasing.delete(team)
        this.#answers.delete(team)
        if (isErased) onErased(team)
      }
    })
    this.#erasing.set(team, erased)
    this.#last = erased
  }

  /** Asks the API server, and checks that it is our cluster's. Throws as `admit` does. */
  async #isStill(team: string, uid: string | null): Promise<boolean> {
    const { reader, ownNamespace, engine } = this.#options
    const own = await reader.read(ownNamespace)
    if (own.kind !== 'found' || own.uid !== (await engine.namespaces()).get(CLUSTER)) return false
    const found = await reader.read(team)
    return uid === null ? found.kind === 'missing' : found.kind === 'found' && found.uid === uid
  }
}
