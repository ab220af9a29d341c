import { join } from 'node:path'
import { type Document, isMap, parseAllDocuments } from 'yaml'

const RELEASE = 'punctual'
const NAMESPACE = 'punctual'
const BANNER = '# Made from charts/punctual by `make manifests`: change that, not this.\n'
/** True of a release only. */
const LABELS_OF_HELM = ['app.kubernetes.io/managed-by', 'helm.sh/chart']
const NAMESPACE_DOCUMENT = `apiVersion: v1
kind: Namespace
metadata:
  name: ${NAMESPACE}
  labels:
    pod-security.kubernetes.io/enforce: restricted
`

/** The folders of config/, in the order in which their objects are applied. */
const PARTS = ['crd', 'rbac', 'network', 'redis', 'controller', 'api', 'executor'] as const
type Part = (typeof PARTS)[number]

/**
 * The files of config/ that are made from the chart, by path from the root.
 * @param helm runs it with these arguments and answers what it printed
 */
export async function plainManifests(
  root: string,
  helm: (given: readonly string[]) => Promise<string>,
): Promise<ReadonlyMap<string, string>> {
  const chart = join(root, 'charts/punctual')
  const values = join(root, 'config/values.yaml')
  const rendered = await helm(['template', RELEASE, chart, '--namespace', NAMESPACE, '--values', values])
  const documents = parseAllDocuments(rendered) as Document.Parsed[]
  const parts = PARTS.map((part) => {
    const texts = documents.filter((document) => partOf(document) === part).map(plainText)
    return [part, texts.join('---\n')] as const
  })
  return new Map([
    ...parts.map(([part, text]) => [`config/${part}/manifests.yaml`, BANNER + text] as const),
    ['config/default/namespace.yaml', BANNER + NAMESPACE_DOCUMENT],
    ['config/install.yaml', BANNER + [NAMESPACE_DOCUMENT, ...parts.map(([, text]) => text)].join('---\n')],
  ])
}

function partOf(document: Document): Part {
  const kind = String(document.get('kind'))
  if (kind === 'CustomResourceDefinition') return 'crd'
  if (kind === 'NetworkPolicy') return 'network'
  if (/^(?:ServiceAccount|(?:Cluster)?Role(?:Binding)?|ValidatingAdmissionPolicy(?:Binding)?)$/.test(kind))
    return 'rbac'
  const component = document.getIn(['metadata', 'labels', 'app.kubernetes.io/component'])
  const part = PARTS.find((one) => one === component)
  if (part === undefined)
    throw new Error(`${kind} ${String(document.getIn(['metadata', 'name']))} has no part`)
  return part
}

function plainText(document: Document): string {
  for (const label of LABELS_OF_HELM) document.deleteIn(['metadata', 'labels', label])
  // What helm says about where a document came from.
  document.commentBefore = null
  if (isMap(document.contents)) document.contents.commentBefore = null
  return document.toString({ lineWidth: 0, singleQuote: true, directives: false })
}
