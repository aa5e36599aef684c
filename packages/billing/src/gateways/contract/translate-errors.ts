/** The same object, with what its methods throw turned into errors of ours. */
export function translateErrors<G extends object>(
  gateway: G,
  translate: (error: unknown) => unknown,
): G {
  const wrapped = Object.entries(gateway).map(([name, member]) => {
    if (typeof member !== 'function') return [name, member]
    const call = (...args: unknown[]) => {
      try {
        const result: unknown = member(...args)
        return result instanceof Promise ? result.catch(rethrow) : result
      } catch (error) {
        return rethrow(error)
      }
    }
    return [name, call]
  })
  const rethrow = (error: unknown): never => {
    throw translate(error)
  }
  return Object.fromEntries(wrapped) as G
}
