/**
 * At hand or promised. Only the guard, the look-up of clients and what writes or reads an access token answer so:
 * what they are asked for is nearly always at hand, and a promise for each request would show.
 */
export type Awaitable<T> = T | Promise<T>

/** Goes on at once with a value that is at hand, and later with one that is promised. */
export function mapAwaitable<T, R>(
  value: Awaitable<T>,
  next: (value: T) => Awaitable<R>,
): Awaitable<R> {
  return value instanceof Promise ? value.then(next) : next(value)
}

/** The same with a way out for work that fails, at once or later. */
export function resolveAwaitable<T, R>(
  work: () => Awaitable<T>,
  done: (value: T) => R,
  failed: (error: unknown) => R,
): R | Promise<Awaited<R>> {
  let value: Awaitable<T>
  try {
    value = work()
  } catch (error) {
    return failed(error)
  }
  return value instanceof Promise ? (value.then(done, failed) as Promise<Awaited<R>>) : done(value)
}
