import { createHash, randomUUID } from 'node:crypto'
import type Stripe from 'stripe'
import { ProviderUnavailable } from '../../../errors.ts'

/**
 * Makes something under an idempotency key. Stripe gives the first answer to a key again for a day, a 500
 * among them, which would keep everybody out for as long. So after a 500 it is looked for, in a list:
 * a search lags behind. What is there is taken; when nothing is, another key may be used. Whoever cannot
 * look has no proof, and everything stays as it is. Two callers must not do this at the same time.
 */
export async function once<T>(
  key: string,
  make: (options: Stripe.RequestOptions) => Promise<T>,
  find: () => Promise<T | null>,
): Promise<T> {
  const idempotencyKey = shorten(key)
  try {
    return await make({ idempotencyKey })
  } catch (error) {
    if (!isServerError(error)) throw error
    return (
      (await lookFor(find, error)) ?? make({ idempotencyKey: `${idempotencyKey}:${randomUUID()}` })
    )
  }
}

/** Stripe takes 255 characters, and callers' keys may be as long as that alone. */
function shorten(key: string): string {
  return key.length <= 200 ? key : createHash('sha256').update(key).digest('hex')
}

async function lookFor<T>(find: () => Promise<T | null>, cause: unknown): Promise<T | null> {
  try {
    return await find()
  } catch {
    throw new ProviderUnavailable(
      'Stripe failed, and could not be asked whether it was done all the same: repeat the call later',
      { provider: 'stripe', providerCode: null, cause },
    )
  }
}

/** An answer, and the end of that request. A gateway's 502 or 504 is neither. */
function isServerError(error: unknown): boolean {
  const { type, statusCode } = error as { readonly type?: unknown; readonly statusCode?: unknown }
  return type === 'StripeAPIError' && statusCode === 500
}
