/** Only kubeconfigs are read with it (see docs/adr/0010): a pod finds its cluster through its service account. */
export const NOT_IN_IMAGE: ReadonlySet<string> = new Set(['@kubernetes/client-node'])

/** An entry of `packages` in package-lock.json. */
export interface LockedPackage {
  readonly dependencies?: Readonly<Record<string, string>>
  readonly peerDependencies?: Readonly<Record<string, string>>
  readonly peerDependenciesMeta?: Readonly<Record<string, { readonly optional?: boolean }>>
}

type Lock = Readonly<Record<string, LockedPackage>>

/** Folders of the packages that the program loads in a container, as the lock file names them. */
export function imagePackages(lock: Lock): string[] {
  const found = new Set<string>()
  const add = (folder: string): void => {
    for (const name of neededBy(lock[folder])) {
      const path = resolve(lock, folder, name)
      if (path === null || found.has(path)) continue
      found.add(path)
      add(path)
    }
  }
  add('')
  return [...found].toSorted()
}

function neededBy({
  dependencies = {},
  peerDependencies = {},
  peerDependenciesMeta = {},
}: LockedPackage = {}): string[] {
  const peers = Object.keys(peerDependencies).filter((name) => peerDependenciesMeta[name]?.optional !== true)
  return [...Object.keys(dependencies), ...peers].filter(
    (name) => !NOT_IN_IMAGE.has(name) && !name.startsWith('@types/') && name !== 'undici-types',
  )
}

/** As Node looks for a package: in the folder itself, then in each folder around it. */
function resolve(lock: Lock, from: string, name: string): string | null {
  for (let folder = from; ; folder = folder.slice(0, Math.max(0, folder.lastIndexOf('/node_modules/')))) {
    const path = folder === '' ? `node_modules/${name}` : `${folder}/node_modules/${name}`
    if (lock[path] !== undefined) return path
    if (folder === '') return null
  }
}
