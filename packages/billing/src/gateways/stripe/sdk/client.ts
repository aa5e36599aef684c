import type Stripe from 'stripe'
import { said } from '../../../values/arguments.ts'
import type { StripeSettings } from './options.ts'

/** The SDK is an optional peer: it is loaded when Stripe is configured. */
export async function loadStripe(options: StripeSettings): Promise<Stripe> {
  const { default: StripeSdk } = await import('stripe').catch((cause) => {
    throw new Error('Stripe is configured, but its SDK is missing: npm install stripe', { cause })
  })
  return new StripeSdk(options.secret, {
    timeout: 30_000,
    maxNetworkRetries: 2,
    telemetry: false,
    ...said(options.config ?? {}),
  })
}

export interface StripeContext {
  readonly stripe: Stripe
  readonly options: StripeSettings
  readonly currency: string
  /** For what no caller can be told. */
  readonly warn: (message: string, error: unknown) => void
}

/** Stripe's ids where an expanded object may be instead. */
export function idOf(value: string | { readonly id: string } | null | undefined): string | null {
  if (value === null || value === undefined) return null
  return typeof value === 'string' ? value : value.id
}

export function toDate(seconds: number): Date {
  return new Date(seconds * 1000)
}

export function toSeconds(date: Date): number {
  return Math.floor(date.getTime() / 1000)
}
