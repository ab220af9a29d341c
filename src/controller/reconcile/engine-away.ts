import type { LeaderSession } from '../engine/leader-session.ts'

/**
 * Why nothing is put in force now, for people who read a condition.
 * @param then what happens meanwhile, up to the word "when"
 */
export function engineAway(engine: Pick<LeaderSession, 'obstacle'>, then: string): string {
  const obstacle = engine.obstacle()
  return obstacle === null
    ? `Redis does not answer: ${then} when it does.`
    : `The controller cannot work on Redis (${obstacle}): ${then} when it can.`
}
