import { BaseSequencer, type TestSpecification } from 'vitest/node'

/** Files that take long, the longest first: one that began last would run alone while a core rests. */
const LONGEST = [
  'model/cluster/tear',
  'model/engine/engine-model',
  'model/cluster/slot-migration',
  'model/jobs/search/moving-jobs',
  'simulation/planted-bugs',
  'simulation/odd-seeds',
  'simulation/even-seeds',
  'simulation/crons/cron-seeds',
  'simulation/crons/cron-year',
  'dashboard/screens',
  'dashboard/access',
  'dashboard/hostile',
  'dashboard/roles',
  'dashboard/app',
  'e2e/releases',
  'e2e/losses',
  'e2e/at-rest',
  'e2e/alone',
  'integration/standalone/readme',
  'integration/standalone/alerts',
  'integration/redis/redis-outage',
  'integration/redis/unsafe-redis',
  'integration/executor/crash-matrix',
  'integration/redis/doctor/doctor',
  'integration/redis/backup/standalone',
  'integration/redis/backup/under-load',
  'integration/redis/backup/broken-off',
  'integration/standalone/standalone',
  'integration/api/bad-input',
  'integration/executor/crash',
  'integration/versions/side-by-side',
  'integration/executor/shares',
  'integration/standalone/notified-crash',
  'cluster/namespaces/watched',
  'cluster/uninstall',
  'cluster/namespaces/made-anew',
  'cluster/chart/install-page',
  'cluster/controller/controller-lifecycle',
  'cluster/controller/scaling',
  'cluster/conformance',
  'cluster/controller/controller-many',
  'cluster/kubernetes-runtime',
]

/** Vitest's own order, by size and by what it remembers, after the files that are known to take long. */
export class LongestFirst extends BaseSequencer {
  override async sort(files: TestSpecification[]): Promise<TestSpecification[]> {
    const byProject = Map.groupBy(await super.sort(files), ({ project }) => project)
    return [...byProject.values()].flatMap((sorted) => sorted.toSorted((a, b) => rankOf(a) - rankOf(b)))
  }
}

function rankOf({ moduleId }: TestSpecification): number {
  const rank = LONGEST.findIndex((file) => moduleId.endsWith(`test/${file}.test.ts`))
  return rank === -1 ? LONGEST.length : rank
}
