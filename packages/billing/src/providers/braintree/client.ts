import type { Observe } from '../../core/values/observer.ts'
import type { braintree } from '../sdk-types.ts'
import { observeBraintree } from './observed-client.ts'
import type { BraintreeSettings } from './options.ts'

/** Calls of the SDK whose types are missing or incomplete. */
interface Untyped {
  readonly transaction: {
    refund(id: string, request: object): Promise<braintree.ValidatedResponse<braintree.Transaction>>
  }
  readonly webhookNotification: { verify(challenge: string): string }
}

export interface BraintreeContext {
  readonly gateway: Untyped & braintree.BraintreeGateway
  readonly options: BraintreeSettings
  readonly currency: string
  readonly planCredit: string
}

/** Loads the SDK, an optional peer dependency that is only needed if Braintree is configured. */
export async function loadBraintree(
  options: BraintreeSettings,
  observe?: Observe,
): Promise<BraintreeContext> {
  const { default: sdk } = await import('braintree').catch((cause) => {
    throw new Error('Braintree is configured, but its SDK is missing: npm install braintree', {
      cause,
    })
  })
  const { environment, merchantId, publicKey, privateKey } = options
  const gateway = new sdk.BraintreeGateway({
    environment:
      typeof environment === 'string' ? chooseEnvironment(sdk, environment) : environment,
    merchantId,
    publicKey,
    privateKey,
  })
  gateway.config.timeout = options.timeout ?? 30_000
  if (observe) observeBraintree(gateway, observe)
  return {
    gateway: gateway as BraintreeContext['gateway'],
    options,
    currency: (options.currency ?? 'usd').toLowerCase(),
    planCredit: options.planCredit ?? 'plan-credit',
  }
}

function chooseEnvironment(sdk: typeof braintree, environment: 'sandbox' | 'production') {
  return environment === 'production' ? sdk.Environment.Production : sdk.Environment.Sandbox
}

/**
 * Checks that the discount in which billing stores credit, and every configured price, exist at
 * Braintree.
 */
export async function checkBraintree({
  gateway,
  planCredit,
  options,
}: BraintreeContext): Promise<string[]> {
  const problems: string[] = []
  const discounts = await gateway.discount.all()
  if (!discounts.some(({ id }) => id === planCredit)) {
    problems.push(
      `Braintree has no discount '${planCredit}': create it under Subscriptions → Discounts with any amount, for one billing cycle. It carries credit when a plan of another frequency is chosen.`,
    )
  }
  const wanted = options.prices ?? []
  if (wanted.length === 0) return problems
  const known = new Set((await gateway.plan.all()).map(({ id }) => id))
  for (const id of wanted.filter((each) => !known.has(each))) {
    problems.push(
      `Braintree has no plan '${id}': create it under Subscriptions → Plans, or take it out of braintree.prices.`,
    )
  }
  return problems
}
