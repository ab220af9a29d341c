import type { RoleName } from '../harness/roles.ts'
import type { EndProfile, RoleInspector } from '../profiling/role-inspector.ts'
import type { Breakdown } from '../report/results.ts'
import { withInspectors, type InspectedRun } from './inspected-run.ts'
import type { Bench } from './scenario.ts'

const ROLES = [
  { role: 'api', title: 'API' },
  { role: 'executor', title: 'Executor' },
] as const satisfies ReadonlyArray<{ role: RoleName; title: string }>

/** Something that a job costs, and the profiler that tells where. */
interface Cost {
  readonly name: string
  readonly unit: string
  spent(role: RoleInspector): Promise<number>
  profile(role: RoleInspector): Promise<EndProfile>
}

const CPU: Cost = {
  name: 'CPU',
  unit: 'µs',
  spent: async (role) => {
    const { user, system } = await role.cpuMicros()
    return user + system
  },
  profile: (role) => role.profileCpu(),
}
const ALLOCATIONS: Cost = {
  name: 'allocated',
  unit: 'B',
  spent: (role) => role.allocatedBytes(),
  profile: (role) => role.profileAllocations(),
}

/** Where the CPU and the memory of the API and the executor go; a full run for each of the two profilers. */
export async function measureProfile(bench: Bench): Promise<void> {
  bench.say('profile')
  await withInspectors(bench, 'profile', async (run) => {
    const ofCpu = await breakDown(run, CPU)
    bench.facts.breakdowns = [...ofCpu, ...(await breakDown(run, ALLOCATIONS))]
  })
}

/** Both roles at once, as they share the cores at work too. */
async function breakDown({ roles, fullRun }: InspectedRun, cost: Cost): Promise<Breakdown[]> {
  const spentByEach = (): Promise<number[]> => Promise.all(ROLES.map(({ role }) => cost.spent(roles[role])))
  const ends = await Promise.all(ROLES.map(({ role }) => cost.profile(roles[role])))
  const before = await spentByEach()
  const jobs = await fullRun()
  const after = await spentByEach()
  const shares = await Promise.all(ends.map((end) => end()))
  return ROLES.map(({ title }, index) => ({
    name: `${title}: ${cost.name}`,
    unit: cost.unit,
    perJob: ((after[index] ?? 0) - (before[index] ?? 0)) / jobs,
    shares: shares[index] ?? {},
  }))
}
