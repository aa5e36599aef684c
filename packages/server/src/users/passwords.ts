import { availableParallelism } from 'node:os'
import { hash, verify } from '@node-rs/argon2'
import { TemporarilyUnavailable } from '@tollgate/oauth'

/** Hashes and verifies passwords outside the main thread, with a limit on concurrent work. */
export interface Passwords {
  hash(password: string): Promise<string>
  /**
   * Compares a password with a hash. With `null`, for an unknown user, does the same work and
   * returns `false`.
   */
  verify(hash: string | null, password: string): Promise<boolean>
}

/** Parameters of password hashing. */
export interface PasswordOptions {
  /**
   * Maximum number of concurrent hashes. Each takes 19 MiB and one of the four threads of Node's
   * pool.
   * @default one less than the number of CPU cores, from 1 to 3
   */
  readonly atOnce?: number
  /**
   * Maximum length of the queue. Further callers get a temporary error.
   * @default 64
   */
  readonly waiting?: number
  /**
   * Cost of a hash. For tests only, which create many.
   * @default 19 MiB, two passes, one lane
   */
  readonly cost?: PasswordCost
}

/** Cost parameters of argon2. */
export interface PasswordCost {
  /** Memory in KiB. */
  readonly memoryCost: number
  /** Number of passes over the memory. */
  readonly timeCost: number
  /** Number of parallel lanes. */
  readonly parallelism: number
}

/** argon2id with the parameters that OWASP recommends: 19 MiB, two passes, one lane. */
const COST: PasswordCost = { memoryCost: 19_456, timeCost: 2, parallelism: 1 }

export function createPasswords(options: PasswordOptions = {}): Passwords {
  const atOnce = options.atOnce ?? Math.max(1, Math.min(3, availableParallelism() - 1))
  const cost = options.cost ?? COST
  const gate = createConcurrencyLimit(atOnce, options.waiting ?? 64)
  let decoy: Promise<string> | null = null
  return {
    hash: (password) => gate(() => hash(password, cost)),
    async verify(stored, password) {
      decoy ??= hash('nobody has this password', cost)
      // An empty hash matches no password.
      const own = stored !== null && stored !== '' ? stored : null
      const against = own ?? (await decoy)
      const matches = await gate(() => verify(against, password))
      return matches && own !== null
    },
  }
}

/**
 * Creates a limit for concurrent work, so that hashing does not starve other requests (threat L3):
 * `atOnce` tasks run, `waiting` tasks are queued, and further ones are rejected.
 */
export function createConcurrencyLimit(atOnce: number, waiting: number) {
  const queue: Array<() => void> = []
  let running = 0

  return async function pass<T>(work: () => Promise<T>): Promise<T> {
    if (running >= atOnce) {
      if (queue.length >= waiting) {
        throw new TemporarilyUnavailable('Too many sign-ins at once; try again in a moment')
      }
      // A finished caller hands its slot over directly, so that no newcomer can take it.
      await new Promise<void>((resolve) => queue.push(resolve))
    } else {
      running += 1
    }
    try {
      return await work()
    } finally {
      const next = queue.shift()
      if (next) next()
      else running -= 1
    }
  }
}
