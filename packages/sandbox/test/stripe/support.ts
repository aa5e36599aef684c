import Stripe from 'stripe'
import { expect, onTestFinished } from 'vitest'
import { type Sandbox, startSandbox } from '../../src/index.ts'
import type { StripeOptions } from '../../src/stripe/server/options.ts'
import { ConformanceChecker, loadContract } from './conformance.ts'

const contract = await loadContract()

export const START = new Date('2026-01-31T10:00:00Z')

export interface StripeSetup {
  readonly sandbox: Sandbox<{ stripe: true }>
  readonly stripe: Stripe
  readonly checker: ConformanceChecker
}

/**
 * Starts a sandbox with the real SDK. Every successful response is checked against the SDK's types.
 */
export async function startStripeSandbox(
  options: { now?: Date; stripe?: StripeOptions; sdk?: Stripe.StripeConfig } = {},
): Promise<StripeSetup> {
  const checker = new ConformanceChecker(contract)
  const sandbox = (await startSandbox({
    stripe: options.stripe ?? true,
    now: options.now ?? START,
  })) as Sandbox<{ stripe: true }>
  const problems: string[] = []
  onTestFinished(async () => {
    await sandbox.close()
    expect(problems).toEqual([])
  })
  const watched: typeof fetch = async (input, init) => {
    const response = await fetch(input, init)
    const text = await response.text()
    if (response.ok) {
      const { pathname } = new URL(String(input))
      // The contract covers `/v1` only.
      if (pathname.startsWith('/v1/'))
        problems.push(...checker.check(init?.method ?? 'GET', pathname, JSON.parse(text)))
    }
    return new Response(text, response)
  }
  const stripe = new Stripe(sandbox.stripe.apiKey, {
    ...sandbox.stripe.config,
    httpClient: Stripe.createFetchHttpClient(watched),
    maxNetworkRetries: 0,
    ...options.sdk,
  })
  return { sandbox, stripe, checker }
}

/** Creates a customer with a card, a product, and prices. */
export async function seedCustomer(stripe: Stripe, card = 'pm_card_visa') {
  const customer = await stripe.customers.create({ email: 'ada@example.com', name: 'Ada' })
  const method = await stripe.paymentMethods.attach(card, { customer: customer.id })
  await stripe.customers.update(customer.id, {
    invoice_settings: { default_payment_method: method.id },
  })
  return { customer, method }
}

export async function seedPrices(stripe: Stripe) {
  const product = await stripe.products.create({ name: 'Gold' })
  const monthly = await stripe.prices.create({
    product: product.id,
    currency: 'usd',
    unit_amount: 1000,
    recurring: { interval: 'month' },
  })
  const better = await stripe.prices.create({
    product: product.id,
    currency: 'usd',
    unit_amount: 2500,
    recurring: { interval: 'month' },
  })
  const yearly = await stripe.prices.create({
    product: product.id,
    currency: 'usd',
    unit_amount: 10_000,
    recurring: { interval: 'year' },
  })
  return { product, monthly, better, yearly }
}

export function seconds(text: string): number {
  return Date.parse(text) / 1000
}

export async function catchStripeError(
  call: Promise<unknown>,
): Promise<InstanceType<typeof Stripe.errors.StripeError>> {
  try {
    await call
  } catch (error) {
    if (error instanceof Stripe.errors.StripeError) return error
    throw error
  }
  throw new Error('The call was accepted')
}
