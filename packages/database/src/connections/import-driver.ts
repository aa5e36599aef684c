import { MissingPackage } from '../errors.ts'

/** Loads a driver, which an application installs for the database it uses. */
export async function importDriver<M>(name: string, load: () => Promise<M>): Promise<M> {
  try {
    return await load()
  } catch (cause) {
    const { code } = cause as { code?: unknown }
    if (code !== 'ERR_MODULE_NOT_FOUND' && code !== 'MODULE_NOT_FOUND') throw cause
    throw new MissingPackage(name, 'This database URL', { cause })
  }
}
