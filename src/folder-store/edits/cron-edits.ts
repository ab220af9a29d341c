import { isDeepStrictEqual } from 'node:util'
import type { CronSettings } from '../../domain/crons/cron.ts'
import { editCronManifest, newCronManifest } from '../../resources/manifests/cron-manifest.ts'
import { identityOf } from '../../resources/resource.ts'
import type { Resource } from '../../resources/resource.ts'
import { cronKey } from '../folder-snapshot.ts'
import type { InForce } from '../applied-resources.ts'
import { newFileName, writeEdit, writeRemoval } from './manifest-edits.ts'
import type { EditParts, RefusedEdit, Removal, WrittenEdit } from './manifest-edits.ts'

export interface CronEdit {
  readonly team: string
  /** `metadata.name`. */
  readonly name: string
  readonly change: Partial<CronSettings>
  /** What the cron has now, or is to begin with; used when no manifest describes it yet. */
  readonly current: CronSettings
}

/** Writes a cron's settings into its manifest, or into a new one; what is in force is not touched. */
export async function writeCronEdit(
  parts: EditParts,
  inForce: InForce,
  edit: CronEdit,
): Promise<WrittenEdit<CronSettings> | RefusedEdit> {
  const { team, name } = edit
  const owner = inForce.crons.get(cronKey(edit))
  const settings = { ...(owner?.resource.settings ?? edit.current), ...edit.change }
  const identity = identityOf({ kind: 'HttpCron', team, name })
  const isMeant = (resource: Resource): boolean => identityOf(resource) === identity
  const end = await writeEdit(parts, {
    place: owner ?? null,
    newFile: newFileName(name, team, parts.team),
    make: () => newCronManifest(name, team === parts.team ? null : team, settings),
    change: (text, document) => editCronManifest(text, document, edit.change),
    isMeant,
    isDone: (resource) => resource.kind === 'HttpCron' && isDeepStrictEqual(resource.settings, settings),
  })
  return end.status === 'refused' ? end : { status: 'edited', settings, key: cronKey(edit), undo: end.undo }
}

/** Takes every manifest of the cron out of the folder, those whose name was taken as well. */
export function writeCronRemoval(
  parts: EditParts,
  { team, name }: { readonly team: string; readonly name: string },
): Promise<Removal> {
  const identity = identityOf({ kind: 'HttpCron', team, name })
  const places = parts.files
    .all()
    .flatMap(({ file, good }) =>
      (good?.resources ?? [])
        .filter(({ resource }) => identityOf(resource) === identity)
        .map(({ document }) => ({ file, document })),
    )
  return writeRemoval(parts, places)
}
