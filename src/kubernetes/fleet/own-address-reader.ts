import { isFault } from '../../domain/errors.ts'
import type { OwnAddressReader } from '../../ports/kubernetes.ts'
import { ignoreNotFound } from '../client/api-errors.ts'
import { collectionPath, objectPath, type ResourceKind } from '../client/resource-path.ts'
import type { Transport } from '../client/transport.ts'

interface Pod {
  readonly status?: { readonly phase?: string; readonly podIPs?: ReadonlyArray<{ readonly ip?: string }> }
}

interface EndpointSlice {
  readonly endpoints?: ReadonlyArray<{ readonly addresses?: readonly string[] }> | null
}

/** The API server's own address as it tells it to every client, such as `192.0.2.1:6443`. */
interface ApiVersions {
  readonly serverAddressByClientCIDRs?: ReadonlyArray<{ readonly serverAddress?: string }> | null
}

const POD: ResourceKind = { apiVersion: 'v1', kind: 'Pod', plural: 'pods' }
const ENDPOINT_SLICE: ResourceKind = {
  apiVersion: 'discovery.k8s.io/v1',
  kind: 'EndpointSlice',
  plural: 'endpointslices',
}
/** The object that the API servers write about themselves. */
const OF_API_SERVER = { namespace: 'default', name: 'kubernetes' }
/** All pods of the chart have this label, that of the bundled Redis too. */
const OUR_PODS = 'app.kubernetes.io/name=punctual'
const PAGE_PODS = 500
/** Enough pages for 10,000 pods. */
const PAGES_MAX = 20

interface PodPage {
  readonly metadata?: { readonly continue?: string }
  readonly items: readonly Pod[] | null
}

/** @param options.namespace that of the controller itself */
export function createOwnAddressReader({
  transport,
  namespace,
}: {
  readonly transport: Transport
  readonly namespace: string
}): OwnAddressReader {
  return {
    read: async (of) => {
      if (of === 'apiServer') return readApiServers(transport)
      return (await podsOf(transport, namespace))
        .filter(isThere)
        .flatMap(({ status }) => status?.podIPs?.flatMap(({ ip }) => ip ?? []) ?? [])
    },
  }
}

/** Without the right to read in `default`, the API server that we talk to is still known. */
async function readApiServers(transport: Transport): Promise<string[]> {
  try {
    const path = objectPath(ENDPOINT_SLICE, OF_API_SERVER)
    const slice = await ignoreNotFound(transport.request<EndpointSlice>({ method: 'GET', path }))
    return (slice?.endpoints ?? []).flatMap(({ addresses = [] }) => addresses)
  } catch (error) {
    if (!isFault(error, 'forbidden')) throw error
    const { serverAddressByClientCIDRs: told } = await transport.request<ApiVersions>({
      method: 'GET',
      path: '/api',
    })
    return (told ?? []).flatMap(({ serverAddress }) => hostOf(serverAddress) ?? [])
  }
}

/** null = the text is no host with a port. */
function hostOf(serverAddress = ''): string | null {
  const url = URL.parse(`https://${serverAddress}`)
  return url === null ? null : url.hostname.replace(/^\[|\]$/g, '')
}

async function podsOf(transport: Transport, namespace: string): Promise<Pod[]> {
  const pods: Pod[] = []
  let next: string | undefined
  for (let page = 0; page < PAGES_MAX; page += 1) {
    const { metadata, items } = await transport.request<PodPage>({
      method: 'GET',
      path: collectionPath(POD, namespace),
      query: {
        labelSelector: OUR_PODS,
        limit: PAGE_PODS,
        ...(next === undefined ? {} : { continue: next }),
      },
    })
    pods.push(...(items ?? []))
    next = metadata?.continue
    if (next === undefined || next === '') return pods
  }
  throw new Error(`there are more than ${PAGES_MAX * PAGE_PODS} pods`)
}

/** A pod that has ended does not count, as its address may be another's by now. */
function isThere({ status }: Pod): boolean {
  return status?.phase !== 'Succeeded' && status?.phase !== 'Failed'
}
