import { availableParallelism } from 'node:os'
import { hash, verify } from '@node-rs/argon2'
import { TemporarilyUnavailable } from '@tollgate/oauth'

/** Checks and makes password hashes, a few at a time, beside the main thread. */
export interface Passwords {
  hash(password: string): Promise<string>
  /** With null, for somebody unknown, the same work is done and the answer is no. */
  verify(hash: string | null, password: string): Promise<boolean>
}

/** How passwords are hashed. */
export interface PasswordOptions {
  /** How many are computed at once. Each takes 19 MiB and a thread of the pool's four. */
  readonly atOnce?: number
  /** How many may wait; whoever comes then is asked to come again. */
  readonly waiting?: number
  /** What making a hash costs. For tests, which make many and protect nobody; default: `COST`. */
  readonly cost?: PasswordCost
}

/** What one hash costs, in argon2's own terms. */
export interface PasswordCost {
  /** KiB. */
  readonly memoryCost: number
  /** Passes over that memory. */
  readonly timeCost: number
  /** Lanes. */
  readonly parallelism: number
}

/** argon2id as OWASP recommends it: 19 MiB, two passes, one lane. */
const COST: PasswordCost = { memoryCost: 19_456, timeCost: 2, parallelism: 1 }

export function createPasswords(options: PasswordOptions = {}): Passwords {
  const atOnce = options.atOnce ?? Math.max(1, Math.min(3, availableParallelism() - 1))
  const cost = options.cost ?? COST
  const gate = createGate(atOnce, options.waiting ?? 64)
  let decoy: Promise<string> | null = null
  return {
    hash: (password) => gate(() => hash(password, cost)),
    async verify(stored, password) {
      decoy ??= hash('nobody has this password', cost)
      // A hash that was emptied is nobody's.
      const own = stored !== null && stored !== '' ? stored : null
      const against = own ?? (await decoy)
      const matches = await gate(() => verify(against, password))
      return matches && own !== null
    },
  }
}

/** Hashing must not starve other requests (threat L3): `atOnce` run, `waiting` wait, the rest go. */
export function createGate(atOnce: number, waiting: number) {
  const queue: Array<() => void> = []
  let running = 0

  return async function pass<T>(work: () => Promise<T>): Promise<T> {
    if (running >= atOnce) {
      if (queue.length >= waiting) {
        throw new TemporarilyUnavailable('Too many sign-ins at once; try again in a moment')
      }
      // Whoever leaves hands its place over, so that nobody slips in between.
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
