/** Goes on at once with a value that is there, and later with one that is promised. */
export function settle<T, R>(
  work: () => T | Promise<T>,
  done: (value: T) => R,
  failed: (error: unknown) => R,
): R | Promise<Awaited<R>> {
  let value: T | Promise<T>
  try {
    value = work()
  } catch (error) {
    return failed(error)
  }
  return value instanceof Promise ? (value.then(done, failed) as Promise<Awaited<R>>) : done(value)
}
