import { StartupError } from '../../domain/errors.ts'

/**
 * Loads a module that needs `@kubernetes/client-node`. The container image and the package from npm come without it
 * (docs/adr/0010): it is larger than all else together, and only kubeconfigs are read with it.
 * @param otherwise what to do without it, after `or`
 * @throws StartupError that says how to get it
 */
export async function withKubeconfigReader<Module>(
  load: () => Promise<Module>,
  otherwise: string,
): Promise<Module> {
  try {
    return await load()
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== 'ERR_MODULE_NOT_FOUND') throw error
    throw new StartupError(
      `This program does not read kubeconfigs without the package @kubernetes/client-node: install version 2 of it beside punctual by npm (the container image cannot have it), or ${otherwise}.`,
      { cause: error },
    )
  }
}
