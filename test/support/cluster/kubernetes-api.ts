/**
 * A test's direct access to a real API server: no retries and no caches, so that a test sees what the server answers. A
 * refusal is an ApiRefusal with the server's own message.
 */
import { randomBytes } from 'node:crypto'
import { readFileSync, writeFileSync } from 'node:fs'
import { Agent, request, type Dispatcher } from 'undici'
import { parse, parseAllDocuments, stringify } from 'yaml'
import { until } from '../until.ts'

const ANSWER_TIMEOUT_MS = 30_000

/** Plain data: vitest passes it from the process that started the control plane to the tests. */
export interface ClusterAccess {
  readonly url: string
  readonly caPem: string
  readonly token: string
}

/** Any object, of any kind. */
export interface AnyObject {
  readonly apiVersion: string
  readonly kind: string
  readonly metadata: {
    readonly name: string
    readonly namespace?: string
    readonly uid?: string
    readonly resourceVersion?: string
    readonly [field: string]: unknown
  }
  readonly spec?: Readonly<Record<string, unknown>>
  readonly status?: Readonly<Record<string, unknown>>
  readonly [field: string]: unknown
}

/** Identifies one object. */
export interface ObjectName {
  readonly apiVersion: string
  readonly kind: string
  readonly name: string
  /** Absent for cluster-scoped kinds. */
  readonly namespace?: string
}

export interface ApplyOptions {
  /** The default namespace of objects. */
  readonly namespace?: string
  readonly dryRun?: boolean
  readonly fieldManager?: string
}

/** A refused request, with the server's message. */
export class ApiRefusal extends Error {
  readonly code: number
  /** Such as `Invalid`, `Forbidden`, `NotFound`, `Conflict`. */
  readonly reason: string

  constructor(code: number, status: { readonly reason?: string; readonly message?: string }) {
    super(status.message ?? `answered ${code}`)
    this.code = code
    this.reason = status.reason ?? ''
  }
}

export interface KubernetesApi {
  isReady(): Promise<boolean>
  /** @param path from the root, with its query */
  send(method: Dispatcher.HttpMethod, path: string, body?: unknown, contentType?: string): Promise<AnyObject>
  /** Server-side apply of every document, in order, with force; unknown fields are an error. */
  apply(manifests: string, options?: ApplyOptions): Promise<AnyObject[]>
  get(name: ObjectName): Promise<AnyObject>
  delete(name: ObjectName): Promise<void>
  /** The path of an object, by discovery. */
  pathOf(name: ObjectName): Promise<string>
  /** The same server as another user; to be closed separately. */
  as(token: string): KubernetesApi
  close(): Promise<void>
}

interface ServedKind {
  readonly name: string
  readonly kind: string
  readonly namespaced: boolean
}

export function openKubernetesApi(access: ClusterAccess): KubernetesApi {
  const dispatcher = new Agent({ connect: { ca: access.caPem } })

  const exchange = async (
    method: Dispatcher.HttpMethod,
    path: string,
    body: unknown,
    contentType: string,
  ): Promise<{ code: number; text: string }> => {
    const answer = await request(new URL(path, access.url), {
      dispatcher,
      method,
      headers: {
        accept: 'application/json',
        authorization: `Bearer ${access.token}`,
        ...(body === undefined ? {} : { 'content-type': contentType }),
      },
      ...(body === undefined ? {} : { body: JSON.stringify(body) }),
      signal: AbortSignal.timeout(ANSWER_TIMEOUT_MS),
    })
    return { code: answer.statusCode, text: await answer.body.text() }
  }

  const send: KubernetesApi['send'] = async (method, path, body, contentType = 'application/json') => {
    const { code, text } = await exchange(method, path, body, contentType)
    const parsed = JSON.parse(text)
    if (code >= 300) throw new ApiRefusal(code, parsed)
    return parsed
  }

  // A kind keeps its path, even where its definition goes and comes again.
  const servedKinds = new Map<string, ServedKind>()

  const servedKind = async (root: string, kind: string): Promise<ServedKind> => {
    const known = servedKinds.get(`${root} ${kind}`)
    if (known !== undefined) return known
    const { resources } = (await send('GET', root)) as unknown as { resources: ServedKind[] }
    const served = resources.find((one) => one.kind === kind && !one.name.includes('/'))
    if (served === undefined) throw new Error(`${root} has no kind ${kind} here`)
    servedKinds.set(`${root} ${kind}`, served)
    return served
  }

  const pathOf: KubernetesApi['pathOf'] = async ({ apiVersion, kind, name, namespace }) => {
    const root = apiVersion.includes('/') ? `/apis/${apiVersion}` : `/api/${apiVersion}`
    const served = await servedKind(root, kind)
    const scope = served.namespaced ? `/namespaces/${namespace ?? 'default'}` : ''
    return `${root}${scope}/${served.name}/${encodeURIComponent(name)}`
  }

  const applyOne = async (object: AnyObject, options: ApplyOptions): Promise<AnyObject> => {
    const namespace = object.metadata.namespace ?? options.namespace
    const { apiVersion, kind } = object
    const path = await pathOf({
      apiVersion,
      kind,
      name: object.metadata.name,
      ...(namespace === undefined ? {} : { namespace }),
    })
    const query = new URLSearchParams({
      fieldManager: options.fieldManager ?? 'test',
      force: 'true',
      fieldValidation: 'Strict',
      ...(options.dryRun === true ? { dryRun: 'All' } : {}),
    })
    return send('PATCH', `${path}?${query.toString()}`, object, 'application/apply-patch+yaml')
  }

  return {
    isReady: async () => (await exchange('GET', '/readyz', undefined, '')).code === 200,
    send,
    apply: async (manifests, options = {}) => {
      const applied: AnyObject[] = []
      for (const object of documentsOf(manifests)) applied.push(await applyOne(object, options))
      return applied
    },
    get: async (name) => send('GET', await pathOf(name)),
    delete: async (name) => {
      await send('DELETE', await pathOf(name))
    },
    pathOf,
    as: (token) => openKubernetesApi({ ...access, token }),
    close: () => dispatcher.destroy(),
  }
}

/** What is read of a text, by the text: most documents of the chart are the same whatever its values. */
const documents = new Map<string, readonly AnyObject[]>()

/** The objects of a multi-document text, without empty ones. */
export function documentsOf(manifests: string): AnyObject[] {
  // JSON is YAML, and a tenth of the work to read.
  if (manifests.startsWith('{')) return [JSON.parse(manifests) as AnyObject]
  return manifests.split(/^---$/m).flatMap((text) => {
    const read = documents.get(text) ?? readDocuments(text)
    documents.set(text, read)
    return structuredClone(read)
  })
}

function readDocuments(text: string): readonly AnyObject[] {
  return parseAllDocuments(text)
    .map((document) => document.toJS() as AnyObject | null)
    .filter((object) => object !== null)
}

/** Applies CustomResourceDefinitions and waits until their kinds are served. */
export async function applyDefinitions(api: KubernetesApi, manifests: string): Promise<void> {
  for (const { apiVersion, kind, metadata } of await api.apply(manifests)) {
    await until(`${metadata.name} is established`, async () => {
      const { status = {} } = await api.get({ apiVersion, kind, name: metadata.name })
      const conditions = (status['conditions'] ?? []) as { type: string; status: string }[]
      return conditions.some((one) => one.type === 'Established' && one.status === 'True')
    })
  }
}

/** A new namespace; it lives as long as the control plane. */
export async function newNamespace(api: KubernetesApi): Promise<string> {
  const name = `test-${randomBytes(4).toString('hex')}`
  await api.send('POST', '/api/v1/namespaces', { metadata: { name } })
  return name
}

/** Creates a ServiceAccount without rights and returns a token that is valid for an hour. */
export async function newServiceAccount(
  api: KubernetesApi,
  namespace: string,
  name: string,
): Promise<string> {
  const path = `/api/v1/namespaces/${namespace}/serviceaccounts`
  await api.send('POST', path, { metadata: { name } })
  const { status = {} } = await api.send('POST', `${path}/${name}/token`, { spec: {} })
  return String(status['token'])
}

export interface TokenConfig {
  /** A kubeconfig. */
  readonly from: string
  readonly token: string
  readonly to: string
}

/** Writes a kubeconfig whose users have this token instead of their own, and returns its path. */
export function writeTokenConfig({ from, token, to }: TokenConfig): string {
  const config = parse(readFileSync(from, 'utf8')) as { users: { name: string }[] }
  const users = config.users.map(({ name }) => ({ name, user: { token } }))
  writeFileSync(to, stringify({ ...config, users }))
  return to
}
