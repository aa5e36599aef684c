import type braintree from 'braintree'
import type { BraintreeSettings } from './options.ts'

export interface BraintreeContext {
  readonly gateway: braintree.BraintreeGateway
  readonly options: BraintreeSettings
  readonly currency: string
  readonly planCredit: string
}

/** The SDK is an optional peer: it is loaded when Braintree is configured. */
export async function loadBraintree(options: BraintreeSettings): Promise<BraintreeContext> {
  const { default: sdk } = await import('braintree').catch((cause) => {
    throw new Error('Braintree is configured, but its SDK is missing: npm install braintree', {
      cause,
    })
  })
  const { environment, merchantId, publicKey, privateKey } = options
  const gateway = new sdk.BraintreeGateway({
    environment: typeof environment === 'string' ? named(sdk, environment) : environment,
    merchantId,
    publicKey,
    privateKey,
  })
  gateway.config.timeout = options.timeout ?? 30_000
  return {
    gateway,
    options,
    currency: (options.currency ?? 'usd').toLowerCase(),
    planCredit: options.planCredit ?? 'plan-credit',
  }
}

function named(sdk: typeof braintree, environment: 'sandbox' | 'production') {
  return environment === 'production' ? sdk.Environment.Production : sdk.Environment.Sandbox
}
