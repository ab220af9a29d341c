import { afterAll, beforeAll, beforeEach, inject } from 'vitest'
import { helmObstacle, renderChart } from './chart.ts'
import {
  type AnyObject,
  documentsOf,
  type KubernetesApi,
  newNamespace,
  openKubernetesApi,
} from './kubernetes-api.ts'

export interface ChartWorld {
  readonly api: KubernetesApi
  /** Made for the tests of this file. */
  namespace(): string
  /** The objects of a release in that namespace. */
  rendered(values: object): Promise<AnyObject[]>
}

/** Renders the chart for a namespace that the API server has. Tests are skipped where there is no helm. */
export function createChartWorld(): ChartWorld {
  const api = openKubernetesApi(inject('clusterAccess'))
  let namespace = ''
  beforeAll(async () => {
    namespace = await newNamespace(api)
  })
  beforeEach(({ skip }) => {
    const obstacle = helmObstacle()
    skip(obstacle !== null, obstacle ?? '')
  })
  afterAll(() => api.close())
  return {
    api,
    namespace: () => namespace,
    rendered: async (values) => documentsOf(await renderChart({ values, namespace })),
  }
}
