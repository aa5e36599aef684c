/** Drivers are optional peers: whoever uses one installs it. */
export async function importDriver<M>(name: string, load: () => Promise<M>): Promise<M> {
  try {
    return await load()
  } catch (cause) {
    if ((cause as { code?: unknown }).code !== 'ERR_MODULE_NOT_FOUND') throw cause
    throw new Error(`This database URL needs the package "${name}": run npm install ${name}`, {
      cause,
    })
  }
}
