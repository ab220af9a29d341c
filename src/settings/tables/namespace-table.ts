import { found, optional, parseNamespace, parseNamespaces, refused, type Parser } from '../parsers.ts'
import { setting } from '../setting.ts'

const SELECTOR_CHARACTERS_MAX = 1_000
const NAME = '[A-Za-z0-9](?:[-A-Za-z0-9_.]{0,61}[A-Za-z0-9])?'
const KEY = `(?:[a-z0-9](?:[-a-z0-9.]{0,251}[a-z0-9])?/)?${NAME}`
const VALUE = `(?:${NAME})?`
const VALUES = `\\( *${VALUE} *(?:, *${VALUE} *)*\\)`
const REQUIREMENT = `(?:! *${KEY}|${KEY}(?: *(?:==?|!=) *${VALUE}| +(?:in|notin) *${VALUES})?)`
/** The schema of the chart has it too. */
export const LABEL_SELECTOR = new RegExp(`^${REQUIREMENT}(?: *, *${REQUIREMENT})*$`)

/** The API server would refuse a wrong selector only in a request, again and again. */
const parseLabelSelector: Parser<string> = (text) =>
  text.length <= SELECTOR_CHARACTERS_MAX && LABEL_SELECTOR.test(text)
    ? found(text)
    : refused(
        `a label selector of at most ${SELECTOR_CHARACTERS_MAX} characters as "kubectl get -l" takes it, such as punctual=yes or env in (prod,test),!legacy`,
      )

/** Settings of the installation's namespace, and of those it serves. */
export const NAMESPACE_SETTINGS = Object.freeze({
  podNamespace: setting({
    roles: ['controller', 'api', 'prepare', 'uninstall'],
    variable: 'PUNCTUAL_POD_NAMESPACE',
    placeholder: 'namespace',
    help: "the operator's own namespace, with its Lease and its executors",
    initial: null,
    initialText: 'none',
    parse: optional(parseNamespace),
  }),
  watchNamespaces: setting({
    roles: ['controller', 'api', 'uninstall'],
    variable: 'PUNCTUAL_WATCH_NAMESPACES',
    placeholder: 'list',
    help: 'watch only these namespaces, separated by commas',
    initial: null,
    initialText: 'all',
    parse: optional(parseNamespaces),
  }),
  namespaceSelector: setting({
    roles: ['controller', 'api', 'uninstall'],
    variable: 'PUNCTUAL_NAMESPACE_SELECTOR',
    placeholder: 'selector',
    help: 'watch only the own namespace and those with these labels, such as punctual=yes',
    initial: null,
    initialText: 'all',
    parse: optional(parseLabelSelector),
  }),
})

/** @param values of the table */
export function namespaceMistakes({
  podNamespace,
  watchNamespaces,
  namespaceSelector,
}: {
  readonly podNamespace: string | null
  readonly watchNamespaces: readonly string[] | null
  readonly namespaceSelector: string | null
}): string[] {
  if (namespaceSelector === null) return []
  if (watchNamespaces !== null) {
    return ['PUNCTUAL_WATCH_NAMESPACES and PUNCTUAL_NAMESPACE_SELECTOR are both set: give one of them.']
  }
  return podNamespace === null
    ? [
        'PUNCTUAL_POD_NAMESPACE is not set: with PUNCTUAL_NAMESPACE_SELECTOR the own namespace is watched, whatever its labels.',
      ]
    : []
}
