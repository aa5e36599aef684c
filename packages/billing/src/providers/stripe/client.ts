import { omitUndefined } from '../../core/values/arguments.ts'
import type { Observe } from '../../core/values/observer.ts'
import type { Stripe } from '../sdk-types.ts'
import { isMissingObjectError } from './errors.ts'
import { observeStripe } from './observed-client.ts'
import type { StripeSettings } from './options.ts'

/** Loads the SDK, an optional peer dependency that is only needed if Stripe is configured. */
export async function loadStripe(options: StripeSettings, observe?: Observe): Promise<Stripe> {
  const { default: StripeSdk } = await import('stripe').catch((cause) => {
    throw new Error('Stripe is configured, but its SDK is missing: npm install stripe', { cause })
  })
  const config = omitUndefined(options.config ?? {})
  const client = () => config.httpClient ?? StripeSdk.createNodeHttpClient(config.httpAgent)
  return new StripeSdk(options.secret, {
    timeout: 30_000,
    maxNetworkRetries: 2,
    telemetry: false,
    ...config,
    ...(observe && { httpClient: observeStripe(client(), observe) }),
  })
}

export interface StripeContext {
  readonly stripe: Stripe
  readonly options: StripeSettings
  readonly currency: string
  /** Logs problems that no caller sees. */
  readonly warn: (message: string, error: unknown) => void
}

/** Returns the id of a Stripe object that may be expanded. */
export function getReferencedId(
  value: string | { readonly id: string } | null | undefined,
): string | null {
  if (value === null || value === undefined) return null
  return typeof value === 'string' ? value : value.id
}

export function toDate(seconds: number): Date {
  return new Date(seconds * 1000)
}

export function toSeconds(date: Date): number {
  return Math.floor(date.getTime() / 1000)
}

/** Runs `work`. Resolves to `null` if Stripe reports that an object does not exist. */
export async function nullIfMissing<T>(work: () => Promise<T>): Promise<T | null> {
  try {
    return await work()
  } catch (error) {
    if (isMissingObjectError(error)) return null
    throw error
  }
}

/** Reads a list of Stripe page by page, completely or up to a limit. */
export async function listAll<T>(
  listed: AsyncIterable<T>,
  limit: number | null = null,
): Promise<T[]> {
  const found: T[] = []
  for await (const each of listed) {
    found.push(each)
    if (found.length === limit) break
  }
  return found
}

/** Checks the API key with a request, and that every configured price exists. */
export async function checkStripe({ stripe, options }: StripeContext): Promise<string[]> {
  await stripe.subscriptions.list({ limit: 1 })
  const problems = await Promise.all(
    (options.prices ?? []).map(async (id) => {
      try {
        const { active } = await stripe.prices.retrieve(id)
        return active
          ? []
          : [`Stripe's price '${id}' is archived: customers cannot subscribe to it.`]
      } catch (error) {
        if (!isMissingObjectError(error)) throw error
        return [`Stripe has no price '${id}': create it, or take it out of stripe.prices.`]
      }
    }),
  )
  return problems.flat()
}
