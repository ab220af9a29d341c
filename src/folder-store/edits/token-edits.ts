import { isDeepStrictEqual } from 'node:util'
import type { ApiToken } from '../../domain/access/api-token.ts'
import { newManifest } from '../../resources/manifests/manifest-text.ts'
import { identityOf, type Resource } from '../../resources/resource.ts'
import { specOfToken } from '../../resources/token-spec.ts'
import { tokenKey } from '../folder-snapshot.ts'
import {
  type EditParts,
  type RefusedEdit,
  type Removal,
  writeEdit,
  writeRemoval,
  type WrittenEdit,
} from './manifest-edits.ts'

type TokenName = Pick<ApiToken, 'team' | 'name'>

/** Writes the manifest of a token that has none yet, without applying it. */
export async function writeNewToken(
  parts: EditParts,
  token: ApiToken,
): Promise<WrittenEdit<ApiToken> | RefusedEdit> {
  const { team, name } = token
  const [place] = placesOf(parts, token)
  if (place !== undefined) {
    return { status: 'refused', reason: `${place.file} has a token called ${name} already.` }
  }
  const namespace = team === parts.team ? null : team
  const end = await writeEdit(parts, {
    place: null,
    newFile: `${namespace === null ? '' : `${namespace}_`}token-${name}.yaml`,
    make: () => newManifest('ApiToken', { name, namespace }, { ...specOfToken(token) }),
    change: () => null,
    isTarget: isToken(token),
    isDone: (resource) => isDeepStrictEqual(resource, { kind: 'ApiToken', ...token }),
  })
  return end.status === 'refused'
    ? end
    : { status: 'edited', settings: token, key: tokenKey(token), undo: end.undo }
}

export function writeTokenRemoval(parts: EditParts, token: TokenName): Promise<Removal> {
  return writeRemoval(parts, placesOf(parts, token))
}

function placesOf(
  { files }: EditParts,
  token: TokenName,
): Array<{ readonly file: string; readonly document: number }> {
  return files
    .all()
    .flatMap(({ file, good }) =>
      (good?.resources ?? [])
        .filter(({ resource }) => isToken(token)(resource))
        .map(({ document }) => ({ file, document })),
    )
}

function isToken({ team, name }: TokenName): (resource: Resource) => boolean {
  const identity = identityOf({ kind: 'ApiToken', team, name })
  return (resource) => identityOf(resource) === identity
}
