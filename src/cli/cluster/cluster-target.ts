import { cliError, FAILED, MISUSED, NOT_FOUND } from '../cli-error.ts'
import { Kubectl, type KubectlFlags } from './kubectl.ts'

const API_LABELS = 'app.kubernetes.io/name=punctual,app.kubernetes.io/component=api'
export const TEAM_HEADER = 'x-punctual-team'
const NAMESPACE_INITIAL = 'default'

export interface ClusterFlags extends KubectlFlags {
  /** The namespace of the team. */
  readonly namespace?: string
  /** Where Punctual is installed. */
  readonly systemNamespace?: string
  /** `name` or `name/key` in the namespace of the team. */
  readonly tokenSecret?: string
}

export interface ClusterTarget {
  readonly server: string
  readonly token: string
  readonly headers: Readonly<Record<string, string>>
  close(): Promise<void>
}

/** The bearer token that a kubeconfig (as JSON) logs in with; null when it has another way, such as a certificate. */
export type BearerOf = (kubeconfig: string) => Promise<string | null>

/**
 * Finds the API in the cluster, forwards a port to it, and says who asks: a token that is given, one of a Secret, or the
 * user of the kubeconfig.
 */
export async function openCluster(
  flags: ClusterFlags,
  token: string | null,
  bearerOf: BearerOf,
): Promise<ClusterTarget> {
  const kubectl = new Kubectl(flags)
  const config = (await kubectl.read(['config', 'view', '--minify', '--raw', '--flatten'])) as Kubeconfig
  const namespace = flags.namespace ?? config.contexts?.[0]?.context?.namespace ?? NAMESPACE_INITIAL
  const own = token ?? (await tokenOf(kubectl, namespace, flags))
  const bearer = own ?? (await bearerOf(JSON.stringify(config)))
  if (bearer === null) {
    const what = 'this kubeconfig logs in without a bearer token'
    throw cliError(`${what}: give --token-secret, --token or PUNCTUAL_TOKEN`, MISUSED)
  }
  const api = await findApi(kubectl, flags.systemNamespace)
  const forward = await kubectl.forward(api.namespace, api.name, api.port)
  return {
    server: `http://127.0.0.1:${forward.port}`,
    token: bearer,
    // A token of Punctual's own belongs to one team, which need not be that of the context.
    headers: own !== null && flags.namespace === undefined ? {} : { [TEAM_HEADER]: namespace },
    close: () => forward.close(),
  }
}

interface Kubeconfig {
  readonly contexts?: ReadonlyArray<{ readonly context?: { readonly namespace?: string } }> | null
}

interface ServiceList {
  readonly items: ReadonlyArray<{
    readonly metadata: { readonly name: string; readonly namespace: string }
    readonly spec: { readonly ports?: ReadonlyArray<{ readonly name?: string; readonly port: number }> }
  }>
}

async function findApi(kubectl: Kubectl, systemNamespace: string | undefined) {
  const where = systemNamespace === undefined ? '--all-namespaces' : `--namespace=${systemNamespace}`
  const { items } = (await kubectl.read([
    'get',
    'services',
    where,
    `--selector=${API_LABELS}`,
  ])) as ServiceList
  const [first, second] = items
  if (first === undefined) {
    throw cliError(`no service of Punctual's API was found (--system-namespace)`, NOT_FOUND)
  }
  if (second !== undefined) {
    const names = items.map(({ metadata }) => metadata.namespace).join(', ')
    throw cliError(`Punctual is installed more than once: choose by --system-namespace (${names})`, MISUSED)
  }
  const ports = first.spec.ports ?? []
  const port = (ports.find(({ name }) => name === 'http') ?? ports[0])?.port
  if (port === undefined) throw cliError(`the service ${first.metadata.name} has no port`, FAILED)
  return { ...first.metadata, port }
}

async function tokenOf(
  kubectl: Kubectl,
  namespace: string,
  { tokenSecret }: ClusterFlags,
): Promise<string | null> {
  if (tokenSecret === undefined) return null
  const [name = '', key = 'token'] = tokenSecret.split('/')
  const secret = await kubectl.read(['get', 'secret', name, `--namespace=${namespace}`])
  const { data } = secret as { readonly data?: Readonly<Record<string, string>> }
  const text = data?.[key]
  if (text === undefined) throw cliError(`the Secret ${name} has no key ${key}`, NOT_FOUND)
  return Buffer.from(text, 'base64').toString('utf8').trim()
}
