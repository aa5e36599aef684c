/** At hand or promised. What is nearly always at hand is not worth a promise for each request. */
export type Maybe<T> = T | Promise<T>

/** Goes on at once with a value that is there, and later with one that is promised. */
export function andThen<T, R>(value: Maybe<T>, next: (value: T) => R): Maybe<Awaited<R>> {
  return (value instanceof Promise ? value.then(next) : next(value)) as Maybe<Awaited<R>>
}

/** The same with a way out for work that fails, at once or later. */
export function settle<T, R>(
  work: () => Maybe<T>,
  done: (value: T) => R,
  failed: (error: unknown) => R,
): R | Promise<Awaited<R>> {
  let value: Maybe<T>
  try {
    value = work()
  } catch (error) {
    return failed(error)
  }
  return value instanceof Promise ? (value.then(done, failed) as Promise<Awaited<R>>) : done(value)
}
