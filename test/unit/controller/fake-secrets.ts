import type { SecretMarks } from '../../../src/domain/secrets/secret-use.ts'
import type { SecretReader } from '../../../src/ports/kubernetes.ts'

/** Secrets as text, by `namespace/name`; each may be used for anything and go anywhere unless `marks` says otherwise. */
export function createFakeSecrets() {
  const texts = new Map<string, Readonly<Record<string, string>>>()
  const marks = new Map<string, Partial<SecretMarks>>()
  const state = { reads: 0, fault: null as Error | null }
  const reader: SecretReader = {
    read: async (namespace, name) => {
      state.reads += 1
      if (state.fault !== null) throw state.fault
      const data = texts.get(`${namespace}/${name}`)
      if (data === undefined) return null
      const bytes = Object.entries(data).map(([key, text]) => [key, Buffer.from(text)] as const)
      return { ...anything, ...marks.get(`${namespace}/${name}`), data: Object.fromEntries(bytes) }
    },
  }
  return { texts, marks, state, reader }
}

/** The type of one, the label of the other. */
const anything = {
  type: 'punctual.dev/signing-secret',
  labels: { 'punctual.dev/secret': 'header' },
  annotations: { 'punctual.dev/hosts': '*' },
}
