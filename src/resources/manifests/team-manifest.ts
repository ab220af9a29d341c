import { isDeepStrictEqual } from 'node:util'
import { isMap, isSeq } from 'yaml'
import type { SecretPlace } from '../../domain/access/signing-secret.ts'
import { editDocument, newManifest } from './manifest-text.ts'

/** A TeamSettings that has nothing but signing secrets. @param namespace null = the team of the folder */
export function newTeamManifest(namespace: string | null, refs: readonly SecretPlace[]): string {
  return newManifest('TeamSettings', { name: 'team', namespace }, { signing: { secretRefs: refs } })
}

/**
 * Changes the signing secrets of one TeamSettings, newest first; those that stay keep their lines and comments.
 * @returns null when the text cannot be edited in place, for example because of an alias
 */
export function editSigningRefs(text: string, document: number, refs: readonly SecretPlace[]): string | null {
  return editDocument(text, document, {
    json: (spec) => ({ ...spec, signing: { ...(spec.signing as object | null), secretRefs: refs } }),
    yaml: (edited) => {
      const old = edited.getIn(['spec', 'signing', 'secretRefs'], true)
      if (!isSeq(old)) {
        const signing = edited.getIn(['spec', 'signing'], true)
        if (signing !== undefined && !isMap(signing) && edited.getIn(['spec', 'signing']) !== null)
          return false
        edited.setIn(['spec', 'signing'], edited.createNode({ secretRefs: refs }))
        return true
      }
      const nodeOf = (ref: SecretPlace): unknown =>
        old.items.find((item) => isMap(item) && isDeepStrictEqual(item.toJS(edited), { ...ref })) ??
        edited.createNode(ref, { flow: old.items.some((item) => isMap(item) && item.flow === true) })
      old.items = refs.map(nodeOf)
      return true
    },
  })
}
