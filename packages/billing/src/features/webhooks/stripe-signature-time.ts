import { InvalidSignature } from '../../core/errors/errors.ts'

/**
 * Maximum difference in seconds between the time in a webhook's signature and our clock, in the
 * past or in the future.
 */
export const SIGNATURE_TOLERANCE_SECONDS = 300

/**
 * Checks the time in a `Stripe-Signature` header: there must be exactly one, and it must be close
 * to our clock. Needed because Stripe's SDK accepts times in the future, and uses the last one if
 * there are several.
 */
export function requireRecentSignature(signature: string, now: Date): void {
  const times = signature
    .split(',')
    .map((part) => part.trim())
    .filter((part) => /^t\s*=/.test(part))
  const [time = ''] = times
  if (times.length !== 1 || !/^t=\d{1,12}$/.test(time)) {
    throw new InvalidSignature('The signature should have exactly one timestamp, in seconds')
  }
  const apart = Math.abs(Math.floor(now.getTime() / 1000) - Number(time.slice(2)))
  if (apart <= SIGNATURE_TOLERANCE_SECONDS) return
  throw new InvalidSignature(
    `The signature's timestamp is ${apart} seconds away from the current time`,
  )
}
