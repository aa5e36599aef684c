/**
 * Wraps an object so that errors of its methods, including nested ones, are converted by
 * `translate`.
 */
export function translateErrors<G extends object>(
  gateway: G,
  translate: (error: unknown) => unknown,
): G {
  const rethrow = (error: unknown): never => {
    throw translate(error)
  }
  const wrap = (member: unknown): unknown => {
    if (typeof member === 'object' && member !== null) return translateErrors(member, translate)
    if (typeof member !== 'function') return member
    return (...args: unknown[]) => {
      try {
        const result: unknown = member(...args)
        return result instanceof Promise ? result.catch(rethrow) : result
      } catch (error) {
        return rethrow(error)
      }
    }
  }
  const wrapped = Object.entries(gateway).map(([name, member]) => [name, wrap(member)])
  return Object.fromEntries(wrapped) as G
}
