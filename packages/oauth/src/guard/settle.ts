/** Goes on at once with a value that is there, and later with one that is promised. */
export function settle<T>(
  work: () => T | Promise<T>,
  done: (value: T) => void,
  failed: (error: unknown) => void,
): void {
  let value: T | Promise<T>
  try {
    value = work()
  } catch (error) {
    failed(error)
    return
  }
  if (value instanceof Promise) value.then(done, failed)
  else done(value)
}
