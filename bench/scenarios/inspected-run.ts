import type { Stand } from '../contenders/contender.ts'
import { inspectedPunctual } from '../contenders/punctual.ts'
import type { RoleName } from '../harness/roles.ts'
import type { Target } from '../harness/nginx-target.ts'
import { freePort } from '../harness/ports.ts'
import { inspectRole, type RoleInspector } from '../profiling/role-inspector.ts'
import { endToEnd, workOptions } from './life.ts'
import { attempt, withStand, type Bench } from './scenario.ts'

/** Punctual with open inspectors, on a stand that gives no other figure. */
export interface InspectedRun {
  readonly roles: Readonly<Record<RoleName, RoleInspector>>
  /** Pushes and calls until the last has arrived; @returns how many jobs. */
  fullRun(): Promise<number>
}

/** Lets `use` make full runs of warm processes. */
export async function withInspectors(
  bench: Bench,
  what: string,
  use: (run: InspectedRun) => Promise<void>,
): Promise<void> {
  const ports = { api: await freePort(), executor: await freePort() }
  const contender = inspectedPunctual(ports)
  await attempt(bench, what, contender, () =>
    withStand(bench, contender, async (stand, target) => {
      await stand.startIntake()
      await stand.startWork(workOptions(bench, contender))
      const roles = { api: await inspectRole(ports.api), executor: await inspectRole(ports.executor) }
      try {
        await use(await warm(bench, { stand, target, roles }))
      } finally {
        // A process does not end before its inspector is closed.
        roles.api.close()
        roles.executor.close()
      }
    }),
  )
}

/** Code that V8 has not optimized yet allocates more. */
async function warm(
  bench: Bench,
  { stand, target, roles }: { stand: Stand; target: Target; roles: InspectedRun['roles'] },
): Promise<InspectedRun> {
  const fullRun = async (): Promise<number> =>
    (await endToEnd(stand, target, bench.sizes.endToEndSeconds)).jobs
  await fullRun()
  return { roles, fullRun }
}
