import { InvalidSignature } from '../../core/errors/errors.ts'

/**
 * Maximum difference in seconds between the time of a signature and the real time, in either
 * direction.
 */
export const TOLERANCE = 300

/**
 * Checks the time of a `Stripe-Signature` header, which must occur once and be close to ours. The
 * SDK rejects old times but not future ones, and uses the last of several.
 */
export function requireRecentTime(signature: string, now: Date): void {
  const times = signature
    .split(',')
    .map((part) => part.trim())
    .filter((part) => /^t\s*=/.test(part))
  const [time = ''] = times
  if (times.length !== 1 || !/^t=\d{1,12}$/.test(time)) {
    throw new InvalidSignature('The signature should have one time, in seconds')
  }
  const apart = Math.abs(Math.floor(now.getTime() / 1000) - Number(time.slice(2)))
  if (apart <= TOLERANCE) return
  throw new InvalidSignature(`The signature's time is ${apart} seconds from ours`)
}
