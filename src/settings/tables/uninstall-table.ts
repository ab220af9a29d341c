import { integerBetween, optional, parseSwitch, refused, type Parser } from '../parsers.ts'
import { setting } from '../setting.ts'

/** A revision of a release, as Helm counts them from 1. */
export interface HelmRevision {
  readonly release: string
  readonly revision: number
}

/** Matches the names that Helm accepts, which it bounds to 53 characters, and a revision. */
const HELM_REVISION = /^([a-z0-9](?:[-a-z0-9.]{0,51}[a-z0-9])?)\.v([1-9]\d{0,8})$/
const CONFIRMATION = /^[a-z0-9](?:[-a-z0-9]{0,61}[a-z0-9])?\/[a-z0-9](?:[-a-z0-9.]{0,251}[a-z0-9])?$/

const parseHelmRevision: Parser<HelmRevision | null> = (text) => {
  const [, release, revision] = HELM_REVISION.exec(text) ?? []
  return release === undefined
    ? refused('a release of Helm and its revision, such as punctual.v3')
    : { ok: true, value: Object.freeze({ release, revision: Number(revision) }) }
}

const parseConfirmation: Parser<string> = (text) =>
  CONFIRMATION.test(text)
    ? { ok: true, value: text }
    : refused('the namespace and the name of an installation, such as punctual/punctual')

/** Settings of `uninstall`: what it must be told before it touches anything, and how far it goes. */
export const UNINSTALL_SETTINGS = Object.freeze({
  helmRevision: setting({
    roles: ['uninstall'],
    variable: 'PUNCTUAL_HELM_REVISION',
    placeholder: 'release.vN',
    help: 'the release of Helm that has to be on its way out, and its revision',
    initial: null,
    initialText: 'none',
    parse: parseHelmRevision,
  }),
  confirmed: setting({
    roles: ['uninstall'],
    variable: 'PUNCTUAL_CONFIRM',
    placeholder: 'namespace/name',
    help: 'the installation that is to go, where Helm does not say so',
    initial: null,
    initialText: 'none',
    parse: optional(parseConfirmation),
  }),
  removeResources: setting({
    roles: ['uninstall'],
    variable: 'PUNCTUAL_REMOVE_RESOURCES',
    placeholder: null,
    help: 'delete all queues, with their jobs, and all crons too',
    initial: false,
    parse: parseSwitch,
  }),
  uninstallSeconds: setting({
    roles: ['uninstall'],
    variable: 'PUNCTUAL_UNINSTALL_SECONDS',
    placeholder: 'seconds',
    help: 'how long pods and resources may take to go',
    initial: 240,
    parse: integerBetween(1, 3_600),
  }),
})
