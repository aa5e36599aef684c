import { InvalidSignature } from '../../errors.ts'

/** Seconds by which a signature's time and the real time may differ, to either side. */
export const TOLERANCE = 300

/**
 * The time of a `Stripe-Signature`, which must be there once and near ours. The SDK refuses what is old, but
 * not what comes from the future, and of several times it believes the last.
 */
export function requireFresh(signature: string, now: Date): void {
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
