/**
 * A value, or a promise of it. Used where the value is nearly always in memory and a promise per
 * request would cost measurable time: the guard, the client lookup and the access token formats.
 */
export type Awaitable<T> = T | Promise<T>

/**
 * Applies `next` to the value: synchronously if it is available, otherwise once the promise
 * resolves.
 */
export function mapAwaitable<T, R>(
  value: Awaitable<T>,
  next: (value: T) => Awaitable<R>,
): Awaitable<R> {
  return value instanceof Promise ? value.then(next) : next(value)
}

/**
 * Runs `work` and maps its result with `done`, or its error with `failed`. Synchronous unless
 * `work` returns a promise.
 */
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
