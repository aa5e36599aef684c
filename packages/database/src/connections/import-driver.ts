import { MissingPackage } from '../errors.ts'

/**
 * Loads a database driver, which is a peer dependency.
 * @throws {MissingPackage} if it is not installed.
 */
export async function importDriver<M>(name: string, load: () => Promise<M>): Promise<M> {
  try {
    return await load()
  } catch (cause) {
    const { code } = cause as { code?: unknown }
    if (code !== 'ERR_MODULE_NOT_FOUND' && code !== 'MODULE_NOT_FOUND') throw cause
    throw new MissingPackage(name, 'This database URL', { cause })
  }
}
