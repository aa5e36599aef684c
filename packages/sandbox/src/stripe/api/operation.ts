import type Stripe from 'stripe'
import type { UnitOfWork } from '../state/unit-of-work.ts'
import type { ROUTES } from '../wire/contract.generated.ts'
import type { WireObject } from '../wire/wire-object.ts'
import type { ListResponse } from './lists.ts'

/** A validated call of the `/v1` API. */
export interface StripeApiCall {
  readonly work: UnitOfWork
  /** The ids in the call's path, in order. */
  readonly ids: readonly string[]
  /** The last id in the call's path. Empty if the path contains none. */
  readonly id: string
  readonly path: string
  /** Parameters of the call that exist only in older API versions. */
  readonly removedParams: Readonly<Record<string, string>>
  /**
   * Whether the call comes from the sandbox's own card field. Only these calls may send card
   * numbers.
   */
  readonly isFromCardField: boolean
}

export type OperationResponse = WireObject | ListResponse | { readonly [field: string]: unknown }

export type StripeOperation<P = never> = (params: P, call: StripeApiCall) => OperationResponse

/**
 * Operations of the API, by their name in the SDK such as `'Customers.create'`, with the parameter
 * types of the SDK.
 */
export type StripeOperations = {
  readonly [N in (typeof ROUTES)[number][2]]?: StripeOperation<ParamsOf<N>>
} & { readonly [N in keyof RemovedOperations]?: StripeOperation<RemovedOperations[N]> }

/** Parameters of operations that were removed from the API and the SDK's types. */
interface RemovedOperations {
  'Invoices.listUpcomingLines': Stripe.InvoiceCreatePreviewParams & Stripe.PaginationParams
  'SubscriptionItems.createUsageRecord': {
    readonly quantity: number
    readonly action?: 'increment' | 'set'
    readonly timestamp?: 'now' | number
  }
  'SubscriptionItems.listUsageRecordSummaries': Stripe.PaginationParams
}

/**
 * Parameter type of an operation: `BillingPortal/Sessions.create` is
 * `stripe.billingPortal.sessions.create`.
 */
type ParamsOf<N> = N extends `${infer Path}.${infer Method}`
  ? ParamsIn<At<Member<Stripe, Path>, Method>>
  : never

type Member<T, Path extends string> = Path extends `${infer First}/${infer Rest}`
  ? Member<At<T, Uncapitalize<First>>, Rest>
  : At<T, Uncapitalize<Path>>

type At<T, K> = K extends keyof T ? T[K] : never

/** Type of the argument between the ids and the request options. */
type ParamsIn<F> = F extends (...given: infer G) => unknown
  ? Required<G> extends readonly [...string[], infer P extends object, object]
    ? P
    : never
  : never
